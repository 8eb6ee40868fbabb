// The variables that this process' loader got at the start, and its own folders: read from the kernel's copy
// of the environment, from the loader where that copy was overwritten, and never from the current values of
// setenv().
#include "host/linker/this_linux.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/machine.hpp"
#include "tests/support/workshop.hpp"

extern char** environ;

namespace enginehost::linker {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Programs that set their own title move the variables and overwrite the old place.
void overwrite_environment() {
  static auto& moved = *new std::deque<std::string>;
  char* const first = environ[0];
  char* end = first;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    end = *entry + std::strlen(*entry);
    *entry = moved.emplace_back(*entry).data();
  }
  std::memset(first, 0, static_cast<std::size_t>(end - first));
  std::strcpy(first, "a title");
}

// The result of the program below.
TEST(ProgramThatChanges, DISABLED_ItsVariables) {
  if (std::getenv("OVERWRITE") != nullptr) overwrite_environment();
  const char* later = std::getenv("LATER");
  if (later != nullptr) ::setenv("LD_LIBRARY_PATH", later, 1);
  const Machine machine = describe_this_machine();
  std::fprintf(stderr, "<%s>", join(machine.library_path, ":").c_str());
  std::fprintf(stderr, "[%s]", join(machine.default_directories, ":").c_str());
  std::fprintf(stderr, "(%s)|%s|", machine.library_path_source.c_str(), machine.lib.c_str());
  for (const std::string& change : loader_variables_for_child()) std::fprintf(stderr, "{%s}", change.c_str());
}

std::string reported_by_program(std::vector<std::string> environment, std::vector<std::string> loader = {}) {
  ChildRequest child;
  child.argv = std::move(loader);
  child.argv.insert(child.argv.end(), {executable_path(), "--gtest_filter=ProgramThatChanges.*",
                                       "--gtest_also_run_disabled_tests"});
  child.environment = std::move(environment);
  const auto ended = run_child(child);
  EXPECT_TRUE(ended && ended->succeeded());
  return ended ? ended->error : "";
}

TEST(LibraryPathAtStart, IsWhatTheProcessWasStartedWith) {
  EXPECT_THAT(reported_by_program({"LD_LIBRARY_PATH=/tmp"}), HasSubstr("</tmp>"));
  EXPECT_THAT(reported_by_program({"LD_LIBRARY_PATH=/tmp"}), Not(HasSubstr("{")));
  const std::string later = reported_by_program({"LD_LIBRARY_PATH=/tmp", "LATER=/usr"});
  EXPECT_THAT(later, AllOf(HasSubstr("</tmp>"), HasSubstr("{LD_LIBRARY_PATH=/tmp}")));
  EXPECT_THAT(reported_by_program({"LD_LIBRARY_PATH", "LATER=/usr"}),
              AllOf(HasSubstr("<>"), HasSubstr("{LD_LIBRARY_PATH}")));
}

TEST(LibraryPathAtStart, IsReadFromTheLoaderWhereTheTextWasOverwritten) {
  if (describe_this_machine().libc != Libc::glibc) GTEST_SKIP() << "musl's loader cannot be asked";
  EXPECT_THAT(reported_by_program({"LD_LIBRARY_PATH=/tmp:/usr", "OVERWRITE=1"}), HasSubstr("</tmp:/usr>"));
  EXPECT_THAT(reported_by_program({"LD_LIBRARY_PATH=/tmp", "OVERWRITE=1", "LATER=/usr"}),
              AllOf(HasSubstr("</tmp>"), HasSubstr("{LD_LIBRARY_PATH=/tmp}")));
  EXPECT_THAT(reported_by_program({"LD_LIBRARY_PATH", "OVERWRITE=1", "LATER=/usr"}),
              AllOf(HasSubstr("<>"), HasSubstr("{LD_LIBRARY_PATH}")));
}

TEST(EnvironmentAtStart, IsNamesAndTheirValuesOnly) {
  EXPECT_TRUE(is_environment(""));
  EXPECT_TRUE(is_environment("A=1\0B=\0BASH_FUNC_x%%=() { :; }\0"s));
  EXPECT_FALSE(is_environment("\0\0\0"s));
  EXPECT_FALSE(is_environment("ker: idle\0B=1\0"s));
  EXPECT_FALSE(is_environment("B=1\0\0\0"s));
  EXPECT_FALSE(is_environment("ker: a=b\0"s));
  EXPECT_FALSE(is_environment("A=1\0B=2"s));
}

TEST(CompiledInFolders, AreTheLastThatTheLoaderLists) {
  const std::vector<std::string> own{"/nix/store/g/lib", "/nix/store/g/lib64"};
  const ListedFolders plain{{"/a", own[0], own[1]}, {}, {}};
  EXPECT_EQ(compiled_in(plain, {"/a"}), own);
  const ListedFolders old_style{{"/r", "/a", own[0], own[1]}, {"/r"}, {}};
  EXPECT_EQ(compiled_in(old_style, {"/a"}), own);
  const ListedFolders new_style{{".", "/r", own[0], own[1]}, {}, {"/r"}};
  EXPECT_EQ(compiled_in(new_style, {"."}), own);
  // A list without an existing folder was dropped; an unexpected result is not used.
  EXPECT_EQ(compiled_in({own, {"/r"}, {}}, {"/none"}), own);
  EXPECT_THAT(compiled_in(plain, {"/none", "/a"}), IsEmpty());
  EXPECT_THAT(compiled_in(new_style, {}), IsEmpty());
  EXPECT_THAT(reported_by_environment(old_style, own).value(), ElementsAre("/a"));
  EXPECT_THAT(reported_by_environment(new_style, own).value(), ElementsAre("."));
  EXPECT_FALSE(reported_by_environment(plain, {"/lib64"}));
}

// `ld.so --list-diagnostics` exists since glibc 2.33.
TEST(CompiledInFolders, AreThoseThatTheLoaderReports) {
  const Machine machine = describe_this_machine();
  const auto program = binary::read_binary(executable_path());
  ASSERT_TRUE(program);
  ChildRequest child;
  child.argv = {program->interpreter, "--list-diagnostics"};
  const auto ended = run_child(child);
  std::vector<std::string> folders;
  if (ended && ended->succeeded())
    for (const std::string& line : split(ended->output, '\n'))
      if (line.starts_with("path.system_dirs["))
        folders.push_back(line.substr(line.find('"') + 1, line.rfind('/') - line.find('"') - 1));
  if (folders.empty()) GTEST_SKIP() << "this loader does not report its folders";
  EXPECT_EQ(machine.default_directories, folders);
}

// As in bundles that bring a loader: the variable does not count then, and the loader's own folders stay.
TEST(LibraryPathOfALoaderThatIsNamed, ReplacesTheVariable) {
  const Machine machine = describe_this_machine();
  if (machine.libc != Libc::glibc) GTEST_SKIP() << "musl's loader cannot be asked";
  const auto program = binary::read_binary(executable_path());
  ASSERT_TRUE(program);
  for (const char* variable : {"LD_LIBRARY_PATH", "LD_LIBRARY_PATH=/usr"}) {
    const std::string reported =
        reported_by_program({variable}, {program->interpreter, "--library-path", "/tmp"});
    EXPECT_THAT(reported, AllOf(HasSubstr("</tmp>"), HasSubstr("(--library-path)"),
                                HasSubstr("[" + join(machine.default_directories, ":") + "]"),
                                HasSubstr("|" + machine.lib + "|")));
  }
}

using AnotherLoader = test::Workshop;

// Another name in the place of the second compiled-in folder makes it a loader with its own folders.
TEST_F(AnotherLoader, HasFoldersOfItsOwn) {
  const std::vector<std::string> usual = describe_this_machine().default_directories;
  if (usual.size() < 2) GTEST_SKIP() << "this loader has one folder";
  const auto interpreter = binary::read_binary(executable_path());
  ASSERT_TRUE(interpreter);
  std::string loader = read_file(interpreter->interpreter).value_or("");
  const std::string old_folder = usual[1] + "/";
  std::string new_folder = old_folder;
  new_folder[1] = 'x';
  bool found = false;
  for (std::size_t at = loader.find(old_folder); at != std::string::npos;
       at = loader.find(old_folder, at + 1)) {
    found = true;
    for (std::size_t i = 0; i < new_folder.size(); ++i) loader[at + i] = new_folder[i];
  }
  if (!found) GTEST_SKIP() << "this loader holds no folder as a text";
  const auto other = write("loader", loader);
  std::filesystem::permissions(other, std::filesystem::perms::all);
  std::vector<std::string> own = usual;
  own[1] = new_folder.substr(0, new_folder.size() - 1);
  for (const char* path : {"LD_LIBRARY_PATH", "LD_LIBRARY_PATH=/tmp::/nowhere"})
    EXPECT_THAT(reported_by_program({path}, {other.native()}), HasSubstr("[" + join(own, ":") + "]"));
}

}  // namespace
}  // namespace enginehost::linker
