// Row 19 of the fault plan: a read-only layer below a user's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "cache/check.hpp"
#include "cache/layer_trust.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

class Layers : public testing::Test {
 protected:
  Layers() { install(Store::open(folder / "system"), "one"); }

  static Installed install(const Store& store, const std::string& build) {
    auto installed = test::install_small_build(store, build);
    EXPECT_TRUE(installed) << (installed ? "" : std::string(installed.error().code_text()));
    return installed ? *installed : Installed{};
  }
  std::string found_in(const std::string& build = "one") const {
    const auto found = store.find(build);
    if (!found) return std::string(found.error().code_text());
    return *found ? (*found)->layer.filename().native() : "nowhere";
  }

  test::TemporaryFolder folder;
  Store store = Store::open(folder / "user", {folder / "system"}, "layers_test");
};

TEST_F(Layers, TheSystemLayerIsSearchedBeforeTheUsers) {
  EXPECT_EQ(found_in(), "system");
  install(Store::open(folder / "user"), "one");
  EXPECT_EQ(found_in(), "system");
  EXPECT_EQ(store.list().size(), 1u);
  const Store two = Store::open(folder / "user", {folder / "absent", folder / "system"}, "layers_test");
  EXPECT_TRUE(two.find("one").value()->read_only);
}

TEST_F(Layers, BuildsThatTheSystemLacksComeFromTheUsersLayer) {
  install(Store::open(folder / "user"), "two");
  EXPECT_EQ(found_in("two"), "user");
  EXPECT_EQ(found_in("three"), "nowhere");
}

TEST_F(Layers, TheCacheItselfIsNoLayer) {
  fs::create_directory_symlink(folder / "system", folder / "link");
  for (const char* name : {"system", "link", "system/"}) {
    const Store own = Store::open(folder / "system", {folder / name}, "layers_test");
    EXPECT_TRUE(own.layers().empty()) << name;
    EXPECT_FALSE(own.find("one").value()->read_only) << name;
    EXPECT_FALSE(own.list().at(0).read_only) << name;
  }
  EXPECT_EQ(store.layers().size(), 1u);
}

TEST_F(Layers, AMissingOrEmptyLayerIsNoFailure) {
  fs::remove_all(folder / "system");
  EXPECT_EQ(found_in(), "nowhere");
  EXPECT_FALSE(fs::exists(folder / "system"));
  fs::create_directory(folder / "system");
  EXPECT_EQ(found_in(), "nowhere");
  EXPECT_TRUE(fs::is_empty(folder / "system"));
}

TEST_F(Layers, AHalfSeededLayerFallsBackToTheUsersOwn) {
  const fs::path view = store.find("one").value()->folder;
  fs::remove(view / "lib/shared.so.1");
  EXPECT_EQ(found_in(), "EH-F01") << "reported, because no other layer serves";
  install(Store::open(folder / "user"), "one");
  EXPECT_EQ(found_in(), "user");
}

TEST_F(Layers, ALayerOfANewerFormatIsReadAndNeverWritten) {
  test::write_text(folder / "system/LAYER.json", "{\"format\": 2}");
  EXPECT_EQ(found_in(), "system");
  const auto problems = place_problems(folder / "system");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].code, "EH-F16");
  const Store writer = Store::open(folder / "system");
  CollectOptions everything;
  everything.max_bytes = 0;
  EXPECT_EQ(writer.remove("one").error().code, "EH-F16");
  EXPECT_EQ(writer.collect(everything).error().code, "EH-F16");
  EXPECT_EQ(writer.sweep().error().code, "EH-F16");
  // The stamps of a copy differ: its bytes are accepted, and the new stamps are not written.
  fs::copy(folder / "system", folder / "copy", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const std::string before = fingerprint_of(folder / "copy");
  EXPECT_TRUE(*Store::open(folder / "copy").find("one"));
  EXPECT_EQ(fingerprint_of(folder / "copy"), before);
}

TEST_F(Layers, F22ALayerOfAnUntrustedOwnerIsSkipped) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a folder to another user needs root";
  EXPECT_FALSE(layer_problem(folder / "system"));
  for (const char* part : {"system", "system/refs", "system/views"}) {
    ASSERT_EQ(::chown((folder / part).c_str(), 12345, 12345), 0);
    EXPECT_EQ(found_in(), "EH-F22") << part;
    EXPECT_TRUE(store.list().empty());
    EXPECT_FALSE(*store.record_of("one"));
    EXPECT_EQ(store.find("one").error().value(Key::owner), "12345");
    ASSERT_EQ(::chown((folder / part).c_str(), 0, 0), 0);
  }
  EXPECT_EQ(found_in(), "system");
}

TEST_F(Layers, F22AWorldWritableLayerIsSkipped) {
  ASSERT_EQ(::chmod((folder / "system/refs").c_str(), 0777), 0);
  EXPECT_EQ(found_in(), "EH-F22");
  install(Store::open(folder / "user"), "one");
  EXPECT_EQ(found_in(), "user");
}

TEST_F(Layers, SkippedLayersAreReported) {
  EXPECT_TRUE(layers_passed_over({folder / "system", folder / "absent"}).empty());
  fs::create_directory_symlink(folder / "nowhere", folder / "link");
  test::write_text(folder / "file", "x");
  ASSERT_EQ(::chmod((folder / "system/refs").c_str(), 0777), 0);
  const auto reported = layers_passed_over({folder / "link", folder / "system", folder / "file"});
  ASSERT_EQ(reported.size(), 3u);
  EXPECT_EQ(reported[0].code, "EH-F23");
  EXPECT_EQ(reported[1].code, "EH-F22");
  EXPECT_EQ(reported[1].value(Key::folder), (folder / "system/refs").native());
  EXPECT_EQ(reported[2].code, "EH-F23");
}

TEST_F(Layers, TheUsersOwnFolderIsWarnedAboutNotRefused) {
  install(Store::open(folder / "user"), "two");
  ASSERT_EQ(::chmod((folder / "user").c_str(), 0777), 0);
  EXPECT_EQ(found_in("two"), "user");
  const auto problems = place_problems(folder / "user");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].code, "EH-F22");
  EXPECT_EQ(problems[0].value(Key::folder), (folder / "user").native());
}

TEST_F(Layers, L22AFolderOnANoexecMountIsReported) {
  fs::create_directory(folder / "mounted");
  if (::mount("tmpfs", (folder / "mounted").c_str(), "tmpfs", MS_NOEXEC | MS_NODEV | MS_NOSUID,
              "size=4m,mode=0755") != 0)
    GTEST_SKIP() << "mounting needs root";
  install(Store::open(folder / "mounted"), "one");
  const auto problems = place_problems(folder / "mounted");
  ::umount2((folder / "mounted").c_str(), MNT_DETACH);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].code, "EH-L22");
}

TEST_F(Layers, I9ALeaseOnAReadOnlyLayerHoldsWithoutAWrite) {
  const std::string before = fingerprint_of(folder / "system");
  const auto found = store.find("one");
  ASSERT_TRUE(found && *found);
  const auto lease = store.lease(**found);
  ASSERT_TRUE(lease);
  EXPECT_TRUE(lease->holds());
  EXPECT_EQ(fingerprint_of(folder / "system"), before);
  EXPECT_EQ(Store::open(folder / "system").remove("one").error().code, "EH-F18")
      << "the administrator sees that a user has it open";
}

TEST_F(Layers, I9AReadOnlyMountIsNeverChanged) {
  if (::mount((folder / "system").c_str(), (folder / "system").c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      ::mount(nullptr, (folder / "system").c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0)
    GTEST_SKIP() << "mounting needs root";
  const std::string before = fingerprint_of(folder / "system");
  const auto found = store.find("one");
  const bool there = found && *found;
  const bool leased = there && store.lease(**found).has_value();
  const auto verified = store.verify("one", true);
  install(store, "two");
  CollectOptions everything;
  everything.max_bytes = 0;
  const auto collected = store.collect(everything);
  const std::string refused = std::string(Store::open(folder / "system").remove("one").error().code_text());
  const std::string after = fingerprint_of(folder / "system");
  ::umount2((folder / "system").c_str(), MNT_DETACH);
  EXPECT_TRUE(there && leased);
  EXPECT_TRUE(verified && verified->empty());
  EXPECT_EQ(refused, "EH-F16");
  ASSERT_TRUE(collected);
  ASSERT_EQ(collected->removed.size(), 1u);
  EXPECT_EQ(collected->removed[0].build, "two") << "only the user's own layer is collected";
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace enginehost::cache
