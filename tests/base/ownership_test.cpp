// The users who may change a file or folder, by POSIX modes: the path itself, its links and the folders
// above.
#include "base/ownership.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr uid_t alice = 64001, bob = 64002;  // no users of any machine

class Ownership : public testing::Test {
 protected:
  fs::path file(const fs::path& name, mode_t mode, uid_t owner = ::geteuid()) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "content";
    own(path, mode, owner);
    return path;
  }
  fs::path folder(const fs::path& name, mode_t mode, uid_t owner = ::geteuid()) {
    const fs::path path = folder_ / name;
    fs::create_directories(path);
    own(path, mode, owner);
    return path;
  }
  static void own(const fs::path& path, mode_t mode, uid_t owner) {
    if (owner != ::geteuid()) {
      EXPECT_EQ(::chown(path.c_str(), owner, owner), 0);
    }
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
  }
  // "safe", or the reason.
  static std::string asked(const fs::path& path, Purpose purpose = Purpose::belief, const Known& known = {}) {
    const Changers changers = who_may_change(path, purpose, known);
    return changers.problem ? reason_of(*changers.problem, path) : "safe";
  }
  // The answer of another process: with other rights, in another namespace.
  static std::string asked_in(std::vector<std::string> launcher, const fs::path& path,
                              const char* purpose = "belief") {
    for (const std::string& word :
         {std::string(BASE_FIXTURE), std::string("whose"), path.native(), std::string(purpose)})
      launcher.push_back(word);
    ChildRequest request;
    request.argv = std::move(launcher);
    const auto outcome = run_child(request);
    return outcome ? outcome->output + outcome->error : "not started";
  }
  static std::vector<std::string> as(uid_t user) {
    return {"setpriv", "--reuid", std::to_string(user), "--regid", std::to_string(user), "--clear-groups"};
  }
  TemporaryFolder folder_;
};

TEST_F(Ownership, AFileThatOnlyItsOwnerMayWriteIsSafe) {
  EXPECT_EQ(asked(file("own", 0644)), "safe");
  EXPECT_EQ(asked(folder_.path()), "safe");
  EXPECT_EQ(asked(folder_ / "not-there"), "safe");
  EXPECT_EQ(asked("/"), "safe") << "root's";
}

TEST_F(Ownership, F22AFileThatEverybodyMayWriteIsNot) {
  const fs::path open = file("open", 0646);
  const auto problem = who_may_change(open, Purpose::belief).problem;
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->code, "EH-F22");
  EXPECT_EQ(problem->value(Key::folder), open.native());
  EXPECT_EQ(problem->value(Key::problem), "everybody may write into it");
  for (const Purpose purpose : {Purpose::named, Purpose::program, Purpose::sdk_part})
    EXPECT_EQ(asked(open, purpose), "everybody may write into it");
}

TEST_F(Ownership, F22AFolderAboveThatEverybodyMayWriteIsNotSafe) {
  folder("open/inner/deep", 0755);
  const fs::path inside = file("open/inner/deep/file", 0644);
  for (const mode_t mode : {0777u, 0757u, 0703u}) {
    own(folder_ / "open", mode, ::geteuid());
    EXPECT_EQ(asked(inside), (folder_ / "open").native() + ": everybody may write into it");
    EXPECT_NE(asked(inside, Purpose::named), "safe");
    EXPECT_NE(asked(inside, Purpose::program), "safe");
  }
  EXPECT_EQ(asked(inside, Purpose::belief, {.above = folder_ / "open/inner", .sdk = {}}), "safe")
      << "that was asked before";
  own(folder_ / "open", 01777, ::geteuid());
  EXPECT_EQ(asked(inside), "safe") << "the sticky bit protects what others own";
  EXPECT_EQ(asked(folder_ / "open"), "everybody may write into it") << "but they may add to it";
}

TEST_F(Ownership, FollowsALink) {
  fs::create_symlink(file("open", 0646), folder_ / "link");
  EXPECT_EQ(asked(folder_ / "link"), (folder_ / "open").native() + ": everybody may write into it");
  folder("other/inner", 0755);
  own(folder_ / "other", 0777, ::geteuid());
  file("other/inner/file", 0644);
  fs::create_directory_symlink("other/inner", folder_ / "relative");
  EXPECT_EQ(asked(folder_ / "relative/file"), (folder_ / "other").native() + ": everybody may write into it")
      << "the folder above the target counts";
  EXPECT_THAT(asked(folder_ / "relative/../inner/file"), HasSubstr("everybody may write into it"));
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_EQ(asked(folder_ / "circle"), "safe") << "nothing can be read through it";
}

TEST_F(Ownership, F22AnotherUsersFileFolderOrLinkIsNotSafe) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can give files away";
  const fs::path theirs = file("theirs", 0600, alice);
  EXPECT_EQ(asked(theirs), "it belongs to user 64001, who is neither this user nor root");
  EXPECT_EQ(who_may_change(theirs, Purpose::belief).other, "user 64001");
  own(theirs, 0600, 65534);
  EXPECT_THAT(asked(theirs), StartsWith("it belongs to user 65534 (")) << "with the name";
  folder("shared", 0755);
  const fs::path inside = file("shared/file", 0644);
  own(folder_ / "shared", 0755, alice);
  EXPECT_EQ(asked(inside),
            (folder_ / "shared").native() + ": it belongs to user 64001, who is neither this user nor root");
  fs::create_symlink(file("mine", 0644), folder_ / "link");
  ASSERT_EQ(::lchown((folder_ / "link").c_str(), alice, alice), 0);
  EXPECT_EQ(asked(folder_ / "link"), "it belongs to user 64001, who is neither this user nor root");
}

// As with HOME=/tmp: another user came first.
TEST_F(Ownership, F22AFolderThatAnotherMadeInAStickyFolderIsNotSafe) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can give files away";
  folder("tmp", 01777);
  folder("tmp/.config", 0755, alice);
  file("tmp/.config/config.json", 0644, alice);
  EXPECT_THAT(asked(folder_ / "tmp/.config/config.json"), HasSubstr("tmp/.config: it belongs to user 64001"));
  folder("tmp/mine", 0755);
  EXPECT_EQ(asked(file("tmp/mine/config.json", 0644)), "safe");
}

TEST_F(Ownership, FilesOfRootAreSafeForEverybody) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can make them";
  folder("image", 0755);
  const fs::path inside = file("image/config.json", 0644);
  EXPECT_EQ(asked_in(as(1000), inside), "safe\n");
  own(folder_ / "image", 0755, 1000);
  EXPECT_EQ(asked_in(as(1000), inside), "safe\n") << "or the user's own";
  EXPECT_THAT(asked_in(as(1001), inside), HasSubstr("it belongs to user 1000"));
}

TEST_F(Ownership, ANamedPathMayHaveOneOtherOwner) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can give files away";
  folder("cache", 0755, alice);
  const fs::path inside = file("cache/file", 0644, alice);
  EXPECT_EQ(asked(inside, Purpose::named), "safe");
  EXPECT_EQ(who_may_change(inside, Purpose::named).other, "user 64001");
  own(inside, 0644, bob);
  EXPECT_THAT(asked(inside, Purpose::named), HasSubstr("it belongs to user 64002")) << "a second one";
  own(inside, 0666, alice);
  EXPECT_EQ(asked(inside, Purpose::named), "everybody may write into it");
  own(inside, 0664, alice);
  ASSERT_EQ(::chown(inside.c_str(), alice, bob), 0);
  EXPECT_EQ(asked(inside, Purpose::named), "the members of group 64002 may write into it");
  EXPECT_EQ(asked(inside, Purpose::home), "it belongs to user 64001, who is neither this user nor root");
}

TEST_F(Ownership, AGroupWithOtherMembersIsNotSafe) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can give files away";
  folder("layer", 0775);
  const fs::path inside = file("layer/file", 0644);
  EXPECT_EQ(asked(inside), "safe") << "group 0 holds administrators";
  ASSERT_EQ(::chown((folder_ / "layer").c_str(), 0, alice), 0);
  EXPECT_EQ(asked(inside), (folder_ / "layer").native() + ": the members of group 64001 may write into it");
  EXPECT_EQ(asked(inside, Purpose::program), "safe") << "every shell starts it, too";
  own(folder_ / "layer", 02775, 0);
  EXPECT_NE(asked(inside), "safe");
  own(folder_ / "layer", 03775, 0);
  EXPECT_EQ(asked(inside), "safe") << "sticky";
}

#ifdef __linux__
TEST_F(Ownership, F22AnAccessListMayNameOtherWriters) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can give files away";
  const fs::path listed = file("listed", 0664);
  // The list's version; then tag, rights and id of each entry, ordered by tag.
  struct Entry {
    std::uint16_t tag, rights;
    std::uint32_t id;
  };
  const auto give = [&](std::vector<Entry> between, std::uint16_t mask) {
    const std::uint32_t version = 2, none = UINT32_MAX;
    std::vector<Entry> entries{{0x01, 6, none}};
    entries.insert(entries.end(), between.begin(), between.end());
    for (const Entry& last : {Entry{0x10, mask, none}, Entry{0x20, 4, none}}) entries.push_back(last);
    std::string list(reinterpret_cast<const char*>(&version), sizeof version);
    list.append(reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(Entry));
    return ::setxattr(listed.c_str(), "system.posix_acl_access", list.data(), list.size(), 0) == 0;
  };
  const Entry own_group{0x04, 4, UINT32_MAX};
  if (!give({{0x02, 6, alice}, own_group}, 6)) GTEST_SKIP() << "this file system keeps no access lists";
  EXPECT_EQ(asked(listed), "user 64001 may write into it");
  ASSERT_TRUE(give({own_group, {0x08, 6, bob}}, 6));
  EXPECT_EQ(asked(listed), "the members of group 64002 may write into it");
  ASSERT_TRUE(give({{0x02, 4, alice}, own_group}, 6));
  EXPECT_EQ(asked(listed), "safe") << "another user may only read";
  ASSERT_TRUE(give({{0x02, 6, alice}, own_group}, 4));
  EXPECT_EQ(asked(listed), "safe") << "the mask forbids it";
  ASSERT_TRUE(give({{0x02, 6, 0}, own_group}, 6));
  EXPECT_EQ(asked(listed), "safe") << "root";
}
#endif

TEST_F(Ownership, ThePrivateGroupOfTheOwnerIsSafe) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can become another user";
  // Users of a directory service, whose private groups have their numbers.
  folder("home", 0775, alice);
  const fs::path inside = file("home/file", 0664, alice);
  EXPECT_EQ(asked_in(as(alice), inside), "safe\n");
  EXPECT_EQ(asked_in(as(bob), inside, "named"), "other: user 64001\nsafe\n");
  std::vector<std::string> in_group_of_bob = as(alice);
  in_group_of_bob[4] = std::to_string(bob);
  EXPECT_THAT(asked_in(in_group_of_bob, inside), HasSubstr("group 64001 may write into it"));
}

TEST_F(Ownership, APartOfTheSdkMayHaveItsOwnerAndItsGroup) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can give files away";
  const fs::path sdk = folder("lib", 0755, alice), probe = file("probe", 0755, alice);
  const Known known{.above = {}, .sdk = sdk};
  EXPECT_NE(asked(probe, Purpose::sdk_part), "safe");
  EXPECT_EQ(asked(probe, Purpose::sdk_part, known), "safe");
  EXPECT_EQ(asked(probe, Purpose::named, known), "safe");
  own(probe, 0755, bob);
  EXPECT_THAT(asked(probe, Purpose::sdk_part, known), HasSubstr("it belongs to user 64002"));
  own(probe, 0775, alice);
  ASSERT_EQ(::chown(probe.c_str(), alice, bob), 0);
  EXPECT_THAT(asked(probe, Purpose::sdk_part, known), HasSubstr("group 64002 may write into it"));
  ASSERT_EQ(::chown(sdk.c_str(), alice, bob), 0);
  EXPECT_THAT(asked(probe, Purpose::sdk_part, known), HasSubstr("group 64002"))
      << "which may not write the SDK";
  own(sdk, 0775, alice);
  ASSERT_EQ(::chown(sdk.c_str(), alice, bob), 0);
  EXPECT_EQ(asked(probe, Purpose::sdk_part, known), "safe");
}

// As root without its rights on NFS has it.
TEST_F(Ownership, WhatCannotBeLookedAtIsNobodys) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can give files away";
  folder("closed", 0700, alice);
  const fs::path inside = file("closed/file", 0644, alice);
  EXPECT_THAT(
      asked_in({"setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"}, inside),
      HasSubstr("closed: it belongs to user 64001"))
      << "the folder can be looked at";
  ASSERT_EQ(::chown((folder_ / "closed").c_str(), 0, 0), 0);
  EXPECT_EQ(asked_in(as(bob), inside), "safe\n") << "reading it fails, with its own reason";
}

#ifdef __linux__

TEST_F(Ownership, ModesOfAFileSystemWithoutModesDoNotCount) {
  if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can become another user";
  folder("stick", 0777, alice);
  const fs::path inside = file("stick/file", 0777, alice);
  const auto asked_on = [&](const char* kind, uid_t user) {
    std::vector<std::string> launcher = as(user);
    launcher.insert(launcher.end(),
                    {"env", "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0",
                     std::string("ODD_KIND=") + kind, std::string("LD_PRELOAD=") + ODD_FILE_SYSTEM});
    return asked_in(launcher, inside);
  };
  EXPECT_THAT(asked_on("none", alice), HasSubstr("everybody may write into it"));
  EXPECT_EQ(asked_on("exfat", alice), "safe\n");
  EXPECT_THAT(asked_on("exfat", bob), HasSubstr("it belongs to user 64001")) << "mounted for another user";
}

// Root's files, and those of all others, have the number 65534 there.
class InAUserNamespace : public Ownership {
 protected:
  void SetUp() override {
    if (!folder_.can_be_given_away()) GTEST_SKIP() << "only root can become another user";
    if (asked_in(launcher(), "/").find("safe") == std::string::npos)
      GTEST_SKIP() << "user namespaces are closed here";
    own(folder_.path(), 0755, alice);  // it lies in a folder that everybody may write
  }
  static std::vector<std::string> launcher() {
    std::vector<std::string> words = as(alice);
    words.insert(words.end(), {"unshare", "-U", "--map-user=1000"});
    return words;
  }
};

TEST_F(InAUserNamespace, FilesOfTheOverflowUserAreRoots) {
  folder("image", 0755);
  EXPECT_EQ(asked_in(launcher(), file("image/config.json", 0644)), "safe\n");
  EXPECT_EQ(asked_in(launcher(), folder("image/group", 0775)), "safe\n") << "group 0 has no number, either";
  EXPECT_EQ(asked_in(launcher(), file("image/mine", 0644, alice)), "safe\n");
  EXPECT_THAT(asked_in(launcher(), file("image/open", 0666)), HasSubstr("everybody may write into it"));
}

TEST_F(InAUserNamespace, NotWhereEverybodyMayMakeThem) {
  folder("tmp", 01777);
  const fs::path theirs = file("tmp/config.json", 0644, bob);
  EXPECT_THAT(asked_in(launcher(), theirs), HasSubstr("it belongs to user 65534"));
  EXPECT_EQ(asked_in(launcher(), file("tmp/mine", 0644, alice)), "safe\n");
}

TEST_F(InAUserNamespace, ButOnAMountThatNobodyMayWrite) {
  const fs::path mount = folder("mount", 01777);
  std::vector<std::string> words{"unshare",
                                 "-m",
                                 "sh",
                                 "-c",
                                 "mount -t tmpfs -o mode=1777 none " + mount.native() + " && echo x > " +
                                     mount.native() + "/file && chown 64002 " + mount.native() +
                                     "/file && mount -o remount,ro " + mount.native() + " && exec \"$@\"",
                                 "sh"};
  for (const std::string& word : launcher()) words.push_back(word);
  const std::string answer = asked_in(words, mount / "file");
  if (answer.find("mount:") != std::string::npos) GTEST_SKIP() << "mounting is forbidden here";
  EXPECT_EQ(answer, "safe\n");
}

#endif

}  // namespace
}  // namespace enginehost
