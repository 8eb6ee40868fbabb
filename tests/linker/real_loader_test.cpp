// The closure of every library of this machine, against the loader's own answer.
#include "tests/linker/real_loader.hpp"

#include <glob.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/linker/generated.hpp"

namespace enginehost::linker {
namespace {

using test::ask_linker;
using test::ask_loader;
using test::LoaderAnswer;

constexpr const char* glibc_loader = "/lib64/ld-linux-x86-64.so.2";

Machine this_machine() {
  Machine machine = describe_this_machine();
  machine.library_path.clear();
  machine.library_path_text.reset();
  return machine;
}

TEST(RealLoader, agrees_on_every_library_of_this_machine) {
  if (!std::filesystem::exists(glibc_loader)) GTEST_SKIP() << "no glibc loader for x86-64 here";
  std::vector<std::string> files;
  for (const char* pattern : {"/usr/lib/x86_64-linux-gnu/*.so.*", "/usr/local/cuda*/lib64/*.so.*",
                              "/usr/lib/x86_64-linux-gnu/*/*.so", "/usr/bin/*"}) {
    glob_t found{};
    if (::glob(pattern, 0, nullptr, &found) == 0)
      for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
  }
  const Machine machine = this_machine();
  Reader reader;
  std::size_t compared = 0, edges = 0;
  for (const std::string& file : files) {
    const auto& info = reader.read(file);
    if (!info || info->kind != binary::Kind::elf || !info->has_dynamic || info->bits != 64) continue;
    // The loader itself and static-pie programs have nothing to resolve.
    if (test::is_loader_itself(test::real_path(file)) || info->needed.empty()) continue;
    const LoaderAnswer expected = ask_loader(glibc_loader, file, "");
    const LoaderAnswer found = ask_linker(machine, file, reader);
    EXPECT_EQ(found.order, expected.order) << file;
    EXPECT_EQ(found.missing, expected.missing) << file;
    EXPECT_EQ(found.versions, expected.versions) << file;
    EXPECT_TRUE(expected.error.empty()) << file << ": " << expected.error;
    ++compared;
    edges += found.order.size();
  }
  EXPECT_GT(compared, 50u);
  std::cout << compared << " files, " << edges << " resolved libraries compared in order\n";
}

using Generated = test::Generated;

TEST_F(Generated, glibc_agrees_on_a_hundred_trees_of_search_paths) {
  if (!std::filesystem::exists(glibc_loader)) GTEST_SKIP() << "no glibc loader for x86-64 here";
  std::size_t found_libraries = 0, missing = 0;
  for (unsigned long seed = 1; seed <= 100; ++seed) {
    const test::Generated::Tree tree = grow(seed);
    Machine machine = this_machine();
    machine.library_path = split_library_path(tree.library_path);
    Reader reader;
    const LoaderAnswer expected = ask_loader(glibc_loader, tree.root, tree.library_path);
    const LoaderAnswer found = ask_linker(machine, tree.root, reader);
    EXPECT_EQ(found.order, expected.order) << "seed " << seed;
    EXPECT_EQ(found.missing, expected.missing) << "seed " << seed;
    found_libraries += found.order.size();
    missing += found.missing.size();
  }
  EXPECT_GT(found_libraries, 200u);
  EXPECT_GT(missing, 50u);
  std::cout << found_libraries << " found, " << missing << " missing\n";
}

}  // namespace
}  // namespace enginehost::linker
