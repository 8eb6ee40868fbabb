// Compares every shared object of this machine with the loader's own result: which files are found in which
// order, which are missing, which versions, whether it can be loaded at all, and every place that was
// searched. Differences are listed with their reasons in known_differences.txt, and nothing else is listed.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

#include "base/files.hpp"
#include "tests/linker/known_differences.hpp"
#include "tests/linker/machine_libraries.hpp"
#include "tests/linker/real_loader.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::linker {
namespace {

using test::LoaderAnswer;

using test::glibc_loader;

// The loader opens more files than the closure has: other names of a file that is loaded already.
bool same_searches(const LoaderAnswer& found, const LoaderAnswer& expected, std::string& difference) {
  for (const auto& [search, places] : found.searches) {
    const auto searched = expected.searches.find(search);
    if (searched != expected.searches.end() && searched->second == places) continue;
    difference =
        search.second + " for " + search.first + ": we say [" + join(places, ", ") + "], the loader " +
        (searched == expected.searches.end() ? "does not search" : "[" + join(searched->second, ", ") + "]");
    return false;
  }
  return true;
}

std::string as_text(const std::set<std::string>& set) {
  return join(std::vector<std::string>(set.begin(), set.end()), ", ");
}

TEST(KnownDifferences, AnUnlistedDifferenceAndAListedOneThatVanishedBothCount) {
  const std::filesystem::path list =
      std::filesystem::temp_directory_path() / ("enginehost-differences-" + random_hex(8));
  std::ofstream(list) << "/a/*.so\torder\twhy\n/b/*.so\torder\twhy\n/c/x\torder\twhy\n";
  test::KnownDifferences known(list);
  std::filesystem::remove(list);
  known.compare("/a/1.so", "order", false, "");
  known.compare("/a/2.so", "order", true, "");
  known.compare("/b/1.so", "order", true, "");
  known.compare("/a/1.so", "missing", false, "x");
  EXPECT_EQ(known.explained(), 1u);
  EXPECT_EQ(known.unexplained(), std::vector<std::string>{"missing of /a/1.so: x"});
  EXPECT_EQ(known.vanished(), std::vector<std::string>{"/b/*.so\torder\twhy"});
}

TEST(RealLoader, AgreesOnEverySharedObjectOfThisMachine) {
  if (!std::filesystem::exists(glibc_loader)) GTEST_SKIP() << "no " << glibc_loader << " here";
  Machine machine = describe_this_machine();
  machine.program.clear();
  machine.library_path.clear();
  machine.library_path_text.reset();
  test::KnownDifferences known(std::filesystem::path(test::source_path()) /
                               "tests/linker/known_differences.txt");
  Reader reader;
  std::size_t compared = 0, edges = 0, searches = 0, refused = 0;
  for (const std::string& file : test::machine_libraries()) {
    const auto& info = reader.read(file);
    // The loader itself has nothing to resolve, and an object without PT_DYNAMIC cannot be loaded.
    if (!info || test::is_loader_itself(file)) continue;
    const LoaderAnswer expected = test::ask_loader(glibc_loader, file, "", ENGINEHOST_AUDIT_LIBRARY);
    const LoaderAnswer found = test::ask_linker(machine, file, reader);
    ++compared;
    known.compare(file, "verdict", found.error.empty() == expected.error.empty(),
                  "we say '" + found.error + "', the loader '" + expected.error + "'");
    if (!expected.error.empty() || !found.error.empty()) {
      ++refused;
      continue;
    }
    known.compare(
        file, "order", found.order == expected.order,
        "we say [" + join(found.order, ", ") + "], the loader [" + join(expected.order, ", ") + "]");
    known.compare(file, "missing", found.missing == expected.missing,
                  "we say [" + as_text(found.missing) + "], the loader [" + as_text(expected.missing) + "]");
    known.compare(
        file, "versions", found.versions == expected.versions,
        "we say [" + as_text(found.versions) + "], the loader [" + as_text(expected.versions) + "]");
    std::string difference;
    const bool same = same_searches(found, expected, difference);
    known.compare(file, "searched", same, difference);
    edges += found.order.size();
    searches += found.searches.size();
  }
  for (const std::string& line : known.unexplained()) ADD_FAILURE() << line;
  for (const std::string& line : known.vanished()) ADD_FAILURE() << "listed, but does not differ: " << line;
  EXPECT_GT(compared, 50u);
  std::cout << compared << " files (" << refused << " refused by both), " << edges
            << " resolved libraries in order, " << searches << " searches place by place, "
            << known.explained() << " explained differences\n";
}

}  // namespace
}  // namespace enginehost::linker
