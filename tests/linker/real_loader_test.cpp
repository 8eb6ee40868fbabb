// The closure of every library of this machine, against the loader's own answer.
#include "tests/linker/real_loader.hpp"

#include <glob.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "base/text.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::linker {
namespace {

using test::ask_linker;
using test::ask_loader;
using test::LoaderAnswer;

constexpr const char* glibc_loader = "/lib64/ld-linux-x86-64.so.2";
constexpr const char* musl_loader = "/lib/ld-musl-x86_64.so.1";

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

// Small libraries in a few folders, with every way to say where the others are.
class Generated : public test::Workshop {
 protected:
  struct Tree {
    std::string library_path;
    std::filesystem::path root;
  };

  // `compiler` makes ten libraries lib0.so ... lib9.so; each needs some with a higher number.
  Tree grow(unsigned seed, const std::vector<std::string>& compiler) const {
    std::mt19937 random(seed);
    auto one_of = [&](const std::vector<std::string>& choices) { return choices[random() % choices.size()]; };
    const std::filesystem::path base = folder() / std::to_string(seed);
    const std::vector<std::string> folders{"a", "b", "c", "c/glibc-hwcaps/x86-64-v2", "a/tls", "d"};
    for (const std::string& name : folders) std::filesystem::create_directories(base / name);
    std::filesystem::create_directories(base / "link");
    for (int number = 9; number >= 0; --number) {
      std::vector<std::string> flags{"-nostdlib", "-Wl,--no-as-needed", "-L" + base.native(),
                                     "-Wl,--allow-shlib-undefined"};
      std::set<int> needs;
      for (unsigned k = random() % 4; number < 9 && k > 0; --k)
        needs.insert(number + 1 + static_cast<int>(random() % static_cast<unsigned>(9 - number)));
      for (int need : needs)
        flags.push_back((base / "link" / ("lib" + std::to_string(need) + ".so")).native());
      const std::string name = "lib" + std::to_string(number) + ".so";
      // Most have a SONAME that is not their file's name in the folder.
      flags.push_back("-Wl,-soname," + name);
      const std::vector<std::string> elements{"$ORIGIN",        "$ORIGIN/../b", "${ORIGIN}/../c",
                                              base / "a",       base / "c",     "",
                                              base / "nowhere", "$ORIGIN/../d"};
      std::vector<std::string> path;
      for (unsigned k = random() % 4; k > 0; --k) path.push_back(one_of(elements));
      if (!path.empty()) {
        flags.push_back("-Wl,-rpath," + join(path, ":"));
        flags.push_back(random() % 2 == 0 ? "-Wl,--disable-new-dtags" : "-Wl,--enable-new-dtags");
      }
      if (random() % 8 == 0) flags.push_back("-Wl,-z,nodefaultlib");
      const std::filesystem::path made =
          library(std::to_string(seed) + "/link/" + name,
                  "int f" + std::to_string(number) + "(void) { return 0; }\n", flags, compiler);
      // It lies in none, one or two of the folders.
      for (unsigned k = random() % 5 == 0 ? 0 : 1 + random() % 2; k > 0; --k)
        std::filesystem::copy_file(made, base / one_of(folders) / name,
                                   std::filesystem::copy_options::overwrite_existing);
    }
    Tree tree;
    tree.root = base / "a" / "lib0.so";
    std::filesystem::copy_file(base / "link" / "lib0.so", tree.root,
                               std::filesystem::copy_options::overwrite_existing);
    std::vector<std::string> library_path;
    for (unsigned long k = random() % 3; k > 0; --k)
      library_path.push_back(base / one_of({"b", "d", "nowhere", "c"}));
    tree.library_path = join(library_path, random() % 2 == 0 ? ":" : ";");
    return tree;
  }
};

TEST_F(Generated, glibc_agrees_on_forty_trees_of_search_paths) {
  if (!std::filesystem::exists(glibc_loader)) GTEST_SKIP() << "no glibc loader for x86-64 here";
  std::size_t found_libraries = 0, missing = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Tree tree = grow(seed, {"gcc"});
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
  EXPECT_GT(found_libraries, 40u);
  EXPECT_GT(missing, 10u);
  std::cout << found_libraries << " found, " << missing << " missing\n";
}

TEST_F(Generated, musl_agrees_on_twenty_trees_of_search_paths) {
  if (!std::filesystem::exists(musl_loader) || !has_tool("gcc")) GTEST_SKIP() << "musl is not installed";
  std::size_t found_libraries = 0, missing = 0;
  for (unsigned seed = 101; seed <= 120; ++seed) {
    const Tree tree = grow(seed, {"gcc"});
    Machine machine = this_machine();
    machine.libc = Libc::musl;
    machine.default_directories = {"/lib", "/usr/local/lib", "/usr/lib"};
    if (std::filesystem::exists("/etc/ld-musl-x86_64.path")) {
      machine.default_directories.clear();
      std::istringstream lines(bytes_of("/etc/ld-musl-x86_64.path"));
      for (std::string line; std::getline(lines, line);)
        for (const std::string& one : split(line, ':')) machine.default_directories.push_back(one);
    }
    std::string library_path = tree.library_path;
    for (char& c : library_path)
      if (c == ';') c = ':';
    machine.library_path = split(library_path, ':');
    Reader reader;
    const LoaderAnswer expected = ask_loader(musl_loader, tree.root, library_path);
    const LoaderAnswer found = ask_linker(machine, tree.root, reader);
    std::set<std::string> expected_set(expected.order.begin(), expected.order.end());
    expected_set.erase(test::real_path(tree.root));
    EXPECT_EQ(std::set<std::string>(found.order.begin(), found.order.end()), expected_set) << "seed " << seed;
    found_libraries += found.order.size();
    missing += found.missing.size();
  }
  EXPECT_GT(found_libraries, 20u);
  std::cout << found_libraries << " found, " << missing << " missing\n";
}

}  // namespace
}  // namespace enginehost::linker
