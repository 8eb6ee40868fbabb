// Trees of small libraries that search for each other in every possible way.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::test {

// Small libraries in a few folders, with every way to name the folders of the others.
class Generated : public Workshop {
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
  // the data that a loader reads matters.
  Tree grow(unsigned long seed, const std::vector<std::string>& more_elements = {}) const {
    std::mt19937 random(seed);
    auto one_of = [&](const std::vector<std::string>& choices) { return choices[random() % choices.size()]; };
    const std::filesystem::path base = folder() / std::to_string(seed);
    const std::vector<std::string> folders{
        "a", "b", "c", "d", "b/glibc-hwcaps/x86-64-v2", "c/tls", "d/glibc-hwcaps/x86-64-v3"};
    for (const std::string& name : folders) std::filesystem::create_directories(base / name);
    std::filesystem::create_directories(base / "link");
    std::vector<std::string> elements{"$ORIGIN",        "$ORIGIN/../b", "${ORIGIN}/../c", "$ORIGIN/../d",
                                      base / "a",       base / "c",     base / "d",       "",
                                      base / "nowhere", "relative/path"};
    elements.insert(elements.end(), more_elements.begin(), more_elements.end());
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
      // It is in none or in up to three of the folders; copies that only linking needs are separate.
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

}  // namespace enginehost::test
