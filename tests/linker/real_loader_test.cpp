// Libraries that search for each other in every possible way, compared with the loader's own result.
#include "tests/linker/real_loader.hpp"

#include <gtest/gtest.h>

#include "tests/linker/generated.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::linker {
namespace {

using test::ask_linker;
using test::ask_loader;
using test::LoaderAnswer;

using test::glibc_loader;

Machine this_machine() {
  Machine machine = describe_this_machine();
  machine.program.clear();
  machine.library_path.clear();
  machine.library_path_text.reset();
  return machine;
}

using Generated = test::Generated;

TEST_F(Generated, GlibcAgreesOnAHundredTreesOfSearchPaths) {
  if (!std::filesystem::exists(glibc_loader)) GTEST_SKIP() << "no " << glibc_loader << " here";
  std::size_t found_libraries = 0, missing = 0, searches = 0;
  for (unsigned long seed = 1; seed <= 100; ++seed) {
    const test::Generated::Tree tree = grow(seed);
    Machine machine = this_machine();
    machine.library_path = split_library_path(tree.library_path);
    Reader reader;
    const LoaderAnswer expected =
        ask_loader(glibc_loader, tree.root, tree.library_path, ENGINEHOST_AUDIT_LIBRARY);
    const LoaderAnswer found = ask_linker(machine, tree.root, reader);
    EXPECT_EQ(found.order, expected.order) << "seed " << seed;
    EXPECT_EQ(found.missing, expected.missing) << "seed " << seed;
    for (const auto& [search, places] : found.searches) {
      const auto searched = expected.searches.find(search);
      ASSERT_NE(searched, expected.searches.end()) << search.second << " for " << search.first;
      EXPECT_EQ(places, searched->second) << search.second << " for " << search.first;
      ++searches;
    }
    found_libraries += found.order.size();
    missing += found.missing.size();
  }
  EXPECT_GT(found_libraries, 200u);
  EXPECT_GT(missing, 50u);
  std::cout << found_libraries << " found, " << missing << " missing, " << searches << " searches in order\n";
}

}  // namespace
}  // namespace enginehost::linker
