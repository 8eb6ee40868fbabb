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
  void SetUp() override {
    Workshop::SetUp();
    if (!has_tool("gcc") || !has_tool("ld")) GTEST_SKIP() << "gcc or ld is not installed";
    write("empty.c", "int f;\n");
    run({"gcc", "-fPIC", "-c", "-o", (folder() / "empty.o").native(), (folder() / "empty.c").native()});
  }
  struct Tree {
    std::string library_path;
    std::filesystem::path root;
  };

  // Ten libraries lib0.so ... lib9.so, each of which needs some with a higher number. They hold no code: only
  // what a loader reads of them matters.
  Tree grow(unsigned long seed) const {
    std::mt19937 random(seed);
    auto one_of = [&](const std::vector<std::string>& choices) { return choices[random() % choices.size()]; };
    const std::filesystem::path base = folder() / std::to_string(seed);
    const std::vector<std::string> folders{
        "a", "b", "c", "d", "b/glibc-hwcaps/x86-64-v2", "c/tls", "d/glibc-hwcaps/x86-64-v3"};
    for (const std::string& name : folders) std::filesystem::create_directories(base / name);
    std::filesystem::create_directories(base / "link");
    const std::vector<std::string> elements{
        "$ORIGIN", "$ORIGIN/../b",   "${ORIGIN}/../c", "$ORIGIN/../d", base / "a", base / "c", base / "d",
        "",        base / "nowhere", "relative/path"};
    for (unsigned long number = 10; number-- > 0;) {
      const std::string name = "lib" + std::to_string(number) + ".so";
      const std::filesystem::path made = base / "link" / name;
      std::vector<std::string> command{"ld",
                                       "-shared",
                                       "--no-as-needed",
                                       "--allow-shlib-undefined",
                                       "-o",
                                       made,
                                       "-soname",
                                       name,
                                       (folder() / "empty.o").native()};
      std::set<unsigned long> needs;
      for (unsigned long k = random() % 5; number < 9 && k > 0; --k)
        needs.insert(number + 1 + random() % (9 - number));
      if (number == 0) needs.insert({1, 2, 3});
      for (unsigned long need : needs)
        command.push_back(base / "link" / ("lib" + std::to_string(need) + ".so"));
      std::vector<std::string> path;
      for (unsigned long k = random() % 5; k > 0; --k) path.push_back(one_of(elements));
      if (!path.empty()) {
        command.insert(command.end(), {"-rpath", join(path, ":")});
        command.push_back(random() % 2 == 0 ? "--disable-new-dtags" : "--enable-new-dtags");
      }
      if (random() % 8 == 0) command.insert(command.end(), {"-z", "nodefaultlib"});
      run(command);
      // It lies in none or in up to three of the folders; those that only linking needs lie apart.
      for (unsigned long k = random() % 6 == 0 ? 0 : 1 + random() % 3; k > 0; --k)
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

TEST_F(Generated, glibc_agrees_on_a_hundred_trees_of_search_paths) {
  if (!std::filesystem::exists(glibc_loader)) GTEST_SKIP() << "no glibc loader for x86-64 here";
  std::size_t found_libraries = 0, missing = 0;
  for (unsigned long seed = 1; seed <= 100; ++seed) {
    const Tree tree = grow(seed);
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

TEST_F(Generated, musl_agrees_on_fifty_trees_of_search_paths) {
  if (!std::filesystem::exists(musl_loader)) GTEST_SKIP() << "musl is not installed";
  std::size_t found_libraries = 0, missing = 0;
  for (unsigned long seed = 101; seed <= 150; ++seed) {
    const Tree tree = grow(seed);
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
  EXPECT_GT(found_libraries, 50u);
  std::cout << found_libraries << " found, " << missing << " missing\n";
}

}  // namespace
}  // namespace enginehost::linker
