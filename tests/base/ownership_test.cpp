// The owner of a file or folder and the users who may write it, by POSIX modes.
#include "base/ownership.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

class Ownership : public testing::Test {
 protected:
  fs::path file(const char* name, mode_t mode) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "content";
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(Ownership, AFileThatOnlyItsOwnerMayWriteIsSafe) {
  EXPECT_FALSE(ownership_problem(file("own", 0644)));
  EXPECT_FALSE(ownership_problem(folder_.path()));
  EXPECT_FALSE(ownership_problem(folder_ / "not-there"));
  EXPECT_FALSE(ownership_problem("/")) << "root's";
}

TEST_F(Ownership, F22AFileThatEverybodyMayWriteIsNot) {
  const fs::path open = file("open", 0646);
  const auto problem = ownership_problem(open);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->code, "EH-F22");
  EXPECT_EQ(problem->value("folder"), open.native());
  EXPECT_EQ(problem->value("problem"), "everybody may write into it");
}

TEST_F(Ownership, F22AProgramInAnOpenFolderIsNotSafe) {
  const fs::path program = file("program", 0755);
  EXPECT_FALSE(ownership_problem_of_program(program));
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_TRUE(ownership_problem_of_program(program));
}

TEST_F(Ownership, FollowsALink) {
  fs::create_symlink(file("open", 0646), folder_ / "link");
  EXPECT_TRUE(ownership_problem(folder_ / "link"));
}

TEST_F(Ownership, F22AnotherUsersFileIsNotSafe) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const fs::path theirs = file("theirs", 0600);
  ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
  const auto problem = ownership_problem(theirs);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->value("problem"), "it belongs to user 65534, who is neither this user nor root");
}

}  // namespace
}  // namespace enginehost
