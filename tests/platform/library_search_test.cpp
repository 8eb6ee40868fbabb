// The file that the loader of this process would take for a name, compared with dlopen in a restarted
// program.
#include "host/platform/parts.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::platform {
namespace {

namespace fs = std::filesystem;

// Run by the program below: the file that is found, and dlopen's result.
TEST(ProgramThatSearches, DISABLED_PrintsWhatItFinds) {
  const Root root;
  const auto found = LibrarySearch(root).find("searched.so");
  const bool opens = ::dlopen("searched.so", RTLD_NOW | RTLD_LOCAL) != nullptr;
  std::ofstream(std::getenv("ENGINEHOST_TEST_TEXT"))
      << (found ? fs::path(found->path).parent_path().filename().native() + ", " + found->source : "none")
      << ", " << (opens ? "opens" : "does not open");
}

class LibrarySearchOfAProgram : public test::Workshop {
 protected:
  std::string reported(const fs::path& program, const std::string& library_path) const {
    ChildRequest child;
    child.argv = {program.native(), "--gtest_filter=ProgramThatSearches.*",
                  "--gtest_also_run_disabled_tests"};
    child.environment = {"ENGINEHOST_TEST_TEXT=" + (folder() / "printed").native(),
                         "LD_LIBRARY_PATH=" + library_path};
    const auto ended = run_child(child);
    EXPECT_TRUE(ended && ended->succeeded());
    return bytes_of(folder() / "printed");
  }
};

TEST_F(LibrarySearchOfAProgram, TokensOfTheVariableAreExpandedForTheProgram) {
  library("libs/searched.so", "int f;\n");
  const fs::path program = executable_path();
  const std::string there = (folder() / "libs").lexically_relative(program.parent_path()).native();
  EXPECT_EQ(reported(program, "$ORIGIN/" + there), "libs, LD_LIBRARY_PATH, opens");
  EXPECT_EQ(reported(program, "/none;" + (folder() / "libs/").native()), "libs, LD_LIBRARY_PATH, opens");
  EXPECT_EQ(reported(program, "$ORIGINAL/" + there), "none, does not open");
}

TEST_F(LibrarySearchOfAProgram, TheProgramsRpathComesBeforeTheVariable) {
  if (!has_tool("patchelf")) GTEST_SKIP() << "patchelf is not installed";
  library("home/searched.so", "int f;\n");
  library("other/searched.so", "int f;\n");
  const fs::path program = folder() / "program";
  fs::copy_file(executable_path(), program);
  run({"patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/home", program.native()});
  EXPECT_EQ(reported(program, ""), "home, RPATH of program, opens");
  EXPECT_EQ(reported(program, (folder() / "other").native()), "home, RPATH of program, opens");
}

}  // namespace
}  // namespace enginehost::platform
