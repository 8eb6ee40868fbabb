// Programs found by name: nobody else's program, and no code of the current folder.
#include "base/child_process.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SystemProgram : public testing::Test {
 protected:
  // Makes a folder with a script of that name, which prints the text and its current folder.
  std::string folder_with(const std::string& name, const std::string& text) {
    const fs::path folder = folder_ / text;
    fs::create_directories(folder);
    const fs::path file = folder / name;
    std::ofstream(file) << "#!/bin/sh\necho " << text << "; pwd; echo \"$PYTHONSAFEPATH\"\n";
    EXPECT_EQ(::chmod(file.c_str(), 0755), 0);
    return folder.native();
  }
  // Runs the tool with that PATH.
  Result<ChildOutcome> run_with(const std::string& path) {
    const std::string before = std::getenv("PATH");
    ::setenv("PATH", path.c_str(), 1);
    ChildRequest request;
    request.argv = {"tool"};
    auto outcome = run_by_name(request);
    ::setenv("PATH", before.c_str(), 1);
    return outcome;
  }
  TemporaryFolder folder_;
};

TEST_F(SystemProgram, IsTheFirstOfPath) {
  const std::string first = folder_with("tool", "first"), second = folder_with("tool", "second");
  const FoundProgram found = find_program("tool", first + ":" + second);
  EXPECT_EQ(found.file, fs::path(first) / "tool");
  EXPECT_THAT(found.skipped, IsEmpty());
}

TEST_F(SystemProgram, SkipsEntriesThatDependOnTheCurrentFolder) {
  const std::string safe = folder_with("tool", "safe");
  folder_with("tool", "planted");
  const fs::path before = fs::current_path();
  fs::current_path(folder_ / "planted");
  for (const std::string entry : {"", ".", "../planted", "./"}) {
    const FoundProgram found = find_program("tool", entry + ":" + safe);
    EXPECT_EQ(found.file, fs::path(safe) / "tool") << entry;
    EXPECT_THAT(found.skipped, ElementsAre(HasSubstr("it is not an absolute folder"))) << entry;
  }
  fs::current_path(before);
}

TEST_F(SystemProgram, SkipsFoldersAndFilesThatEverybodyMayWrite) {
  const std::string safe = folder_with("tool", "safe");
  const std::string open_folder = folder_with("tool", "open-folder");
  ASSERT_EQ(::chmod(open_folder.c_str(), 01777), 0);  // the sticky bit keeps nobody from adding a file
  const std::string open_file = folder_with("tool", "open-file");
  ASSERT_EQ(::chmod((open_file + "/tool").c_str(), 0757), 0);
  const FoundProgram found = find_program("tool", open_folder + ":" + open_file + ":" + safe);
  EXPECT_EQ(found.file, fs::path(safe) / "tool");
  EXPECT_THAT(found.skipped, ElementsAre(open_folder + ": everybody may write into it",
                                         open_file + "/tool: everybody may write into it"));
}

TEST_F(SystemProgram, SkipsFoldersAndFilesOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const std::string safe = folder_with("tool", "safe");
  const std::string folder = folder_with("tool", "their-folder"), file = folder_with("tool", "their-file");
  ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chown((file + "/tool").c_str(), 65534, 65534), 0);
  const FoundProgram found = find_program("tool", folder + ":" + file + ":" + safe);
  EXPECT_EQ(found.file, fs::path(safe) / "tool");
  EXPECT_THAT(found.skipped, ElementsAre(HasSubstr(folder + ": it belongs to user 65534"),
                                         HasSubstr(file + "/tool: it belongs to user 65534")));
}

TEST_F(SystemProgram, StartsInTheRootFolderWithoutModulesOfTheCurrentOne) {
  const auto outcome = run_with(folder_with("tool", "run"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "run\n/\n1\n");
}

TEST_F(SystemProgram, P20NamesTheSkippedEntries) {
  const std::string open_folder = folder_with("tool", "open");
  ASSERT_EQ(::chmod(open_folder.c_str(), 0777), 0);
  const auto outcome = run_with(open_folder);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, "EH-P20");
  EXPECT_EQ(outcome.error().value(Key::program), "tool");
  EXPECT_THAT(std::string(outcome.error().value(Key::skipped)), HasSubstr(open_folder));
}

}  // namespace
}  // namespace enginehost
