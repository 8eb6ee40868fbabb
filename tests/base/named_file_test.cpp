// Files that a person names for a command to write: no link of another user is followed. Other owners need
// root.
#include "base/named_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/files.hpp"
#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t somebody = 6001;

class NamedFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "own");
    std::ofstream(folder_ / "own/precious") << "mine";
  }
  std::string problem_of(const fs::path& file) const {
    const auto place = place_for_file(file, "engine-cache");
    return place ? ""
                 : std::string(place.error().code_text()) + ": " +
                       std::string(place.error().value(Key::problem));
  }
  static void give_away(const fs::path& link) { ASSERT_EQ(::lchown(link.c_str(), somebody, somebody), 0); }
  TemporaryFolder folder_;
};

TEST_F(NamedFiles, AreTheirOwnPlaceIfNothingOrAFileIsThere) {
  for (const char* name : {"new", "own/precious", "missing/folder/x"}) {
    const auto place = place_for_file(folder_ / name, "engine-cache");
    ASSERT_TRUE(place) << name;
    EXPECT_EQ(*place, folder_ / name);
  }
}

TEST_F(NamedFiles, ARelativeNameBeginsAtTheCurrentFolder) {
  const fs::path here = fs::relative(folder_.path());
  ASSERT_TRUE(here.native().starts_with("..")) << here;
  for (const fs::path& file : {here / "new", here / "own/../new", fs::path("../new"), fs::path("new")}) {
    const auto place = place_for_file(file, "engine-cache");
    ASSERT_TRUE(place) << file;
    EXPECT_EQ(*place, file);
  }
}

TEST_F(NamedFiles, LinksOfThisUserAreFollowed) {
  fs::create_symlink("own/precious", folder_ / "link");
  fs::create_symlink("link", folder_ / "second");
  fs::create_directory_symlink("own", folder_ / "folder");
  for (const char* name : {"link", "second"}) {
    const auto place = place_for_file(folder_ / name, "engine-cache");
    ASSERT_TRUE(place) << name;
    EXPECT_EQ(fs::canonical(*place), fs::canonical(folder_ / "own/precious")) << name;
  }
  EXPECT_EQ(problem_of(folder_ / "folder/precious"), "");
}

TEST_F(NamedFiles, LinksOfAnotherUserAreRefused) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "skipped: only root makes links of another user";
  fs::create_symlink("own/precious", folder_ / "planted");
  fs::create_directory_symlink("own", folder_ / "folder");
  fs::create_symlink("planted", folder_ / "own-link");
  fs::create_symlink("own/missing", folder_ / "dangling");
  for (const char* link : {"planted", "folder", "dangling"}) give_away(folder_ / link);
  for (const char* name :
       {"planted", "folder/x", "folder/precious", "own-link", "dangling", "folder/../planted"}) {
    for (const fs::path& file : {folder_ / name, fs::relative(folder_.path()) / name}) {
      EXPECT_THAT(problem_of(file), HasSubstr("of user 6001")) << file;
      EXPECT_FALSE(refuse_foreign_links(file, "engine-run")) << file;
    }
  }
}

TEST_F(NamedFiles, OnlyAFileIsReplaced) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("nowhere", folder_ / "dangling");
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_THAT(problem_of(folder_ / "own"), HasSubstr("is a folder"));
  EXPECT_THAT(problem_of(folder_ / "pipe"), HasSubstr("is a pipe"));
  EXPECT_THAT(problem_of("/dev/null"), HasSubstr("is a device"));
  EXPECT_THAT(problem_of(folder_ / "dangling"), HasSubstr("not there"));
  EXPECT_THAT(problem_of(folder_ / "circle"), HasSubstr("not there"));
}

// A name of a file is replaced as a whole: another name of the same file keeps its bytes.
TEST_F(NamedFiles, AHardLinkChangesNothingElse) {
  fs::create_hard_link(folder_ / "own/precious", folder_ / "planted");
  const auto place = place_for_file(folder_ / "planted", "engine-cache");
  ASSERT_TRUE(place);
  ASSERT_TRUE(write_file(*place, "new"));
  EXPECT_EQ(*read_file(folder_ / "own/precious"), "mine");
}

}  // namespace
}  // namespace enginehost
