// check() reports nothing for an intact cache, and names every planted violation.
#include "cache/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/file_calls.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

class Checking : public testing::Test {
 protected:
  Checking() {
    installed = *test::install_small_build(store, "one");
    EXPECT_TRUE(store.sweep());
  }

  // "I1 wrong bytes lib/shared.so.1 of one", sorted.
  std::vector<std::string> found(bool deep = true, bool at_rest = false) const {
    CheckOptions options;
    options.deep = deep;
    options.at_rest = at_rest;
    const auto violations = check(store.root(), options);
    std::vector<std::string> reported;
    if (!violations) return {std::string(violations.error().code_text())};
    for (const Violation& violation : *violations)
      reported.push_back(std::string(violation.invariant) + " " + name_of(violation.problem.kind) + " " +
                         violation.problem.path + (violation.build.empty() ? "" : " of " + violation.build));
    std::sort(reported.begin(), reported.end());
    return reported;
  }
  static void damage(const fs::path& file, std::string_view bytes) {
    calls::chmod(file.c_str(), 0644);
    test::write_text(file, bytes);
    calls::chmod(file.c_str(), 0444);
  }

  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache", {}, "check_test");
  Installed installed;
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(Checking, AnIntactCacheHasNoViolation) {
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_THAT(found(false, true), IsEmpty());
  EXPECT_TRUE(check(folder / "nowhere")->empty());
}

TEST_F(Checking, I1OtherBytesAreReportedForTreeAndView) {
  damage(installed.folder / "NOTICE", "TEXT\n");
  EXPECT_THAT(found(), ElementsAre("I1 wrong bytes NOTICE of one", "I2 wrong bytes NOTICE of one"));
  EXPECT_THAT(found(false), IsEmpty()) << "the size is right";
}

TEST_F(Checking, HashesAFileWhoseStampChangedWithoutDeepMode) {
  std::string bytes = test::large_library_bytes();
  bytes.back() = 'z';
  damage(installed.folder / "lib/shared.so.1", bytes);
  EXPECT_THAT(found(false), testing::Contains("I2 wrong bytes lib/shared.so.1 of one"));
}

#ifndef _WIN32  // on Windows a file that is being read cannot be removed
TEST_F(Checking, ConcurrentChangesAreNoDamage) {
  std::atomic<bool> ending = false;
  std::thread coming([&] {
    const Store other = Store::open(folder / "cache", {}, "another");
    while (!ending) {
      EXPECT_TRUE(test::install_small_build(other, "two"));
      EXPECT_TRUE(other.remove("two"));
    }
  });
  for (int round = 0; round < 40; ++round) EXPECT_THAT(found(), IsEmpty()) << round;
  ending = true;
  coming.join();
}
#endif

TEST_F(Checking, I1ATreeWhoseListIsMissingOrDifferentIsReported) {
  const fs::path list = folder / ("cache/lists/" + installed.trees.at(1));
  const std::string text = test::read_text(list);
  test::write_text(list, text + "F 1 x y\n");
  EXPECT_THAT(found(), ElementsAre("I1 wrong bytes lists/" + installed.trees.at(1) + " of one"));
  fs::remove(list);
  EXPECT_THAT(found(), ElementsAre("I1 missing lists/" + installed.trees.at(1) + " of one"));
}

TEST_F(Checking, I2ARecordWithoutItsTreeOrViewIsReported) {
  fs::remove_all(folder / ("cache/trees/" + installed.trees.at(0)));
  EXPECT_THAT(found(), ElementsAre("I2 missing trees/" + installed.trees.at(0) + " of one"));
  fs::remove_all(installed.folder);
  EXPECT_THAT(found(), ElementsAre("I2 missing trees/" + installed.trees.at(0) + " of one",
                                   "I2 missing views/" + installed.digest + " of one"));
}

TEST_F(Checking, I2ATruncatedRecordIsReported) {
  fs::resize_file(folder / "cache/refs/one.ref", 100);
  EXPECT_THAT(found(), ElementsAre("I2 wrong bytes refs/one.ref of one"));
}

TEST_F(Checking, I2ForeignFilesAndModesInAViewAreReported) {
  test::write_text(installed.folder / "lib/stranger.so", "x");
  calls::chmod((installed.folder / "NOTICE").c_str(), 0666);
  EXPECT_THAT(found(), ElementsAre("I1 wrong mode NOTICE of one", "I2 unexpected lib/stranger.so of one",
                                   "I2 wrong mode NOTICE of one"));
}

TEST_F(Checking, I5LeftoversAreReported) {
  fs::create_directories(folder / "cache/stage/key/s1");
  fs::create_directories(folder / "cache/views/nobody");
  EXPECT_THAT(found(), IsEmpty()) << "someone may be at work";
  EXPECT_THAT(found(true, true), ElementsAre("I5 unexpected stage/key", "I5 unexpected views/nobody"));
}

TEST_F(Checking, I5LeftoversAreReportedWithoutAFolderOfTheCache) {
  fs::remove_all(folder / "cache/stage");
  for (const char* left : {"trees/nobody", "views/nobody"}) fs::create_directories(folder / "cache" / left);
  EXPECT_THAT(found(true, true), ElementsAre("I1 missing lists/nobody", "I5 unexpected trees/nobody",
                                             "I5 unexpected views/nobody"));
}

TEST_F(Checking, TheFingerprintNoticesContentNameModeAndTime) {
  const std::string before = fingerprint_of(store.root());
  EXPECT_EQ(fingerprint_of(store.root()), before);
  const fs::path file = installed.folder / "NOTICE";
  calls::chmod(file.c_str(), 0644);
  const std::string with_mode = fingerprint_of(store.root());
  EXPECT_NE(with_mode, before);
  test::write_text(file, "TEXT\n");
  const std::string with_content = fingerprint_of(store.root());
  EXPECT_NE(with_content, with_mode);
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string with_time = fingerprint_of(store.root());
  EXPECT_NE(with_time, with_content);
  fs::rename(file, installed.folder / "NOTES");
  EXPECT_NE(fingerprint_of(store.root()), with_time);
}

}  // namespace
}  // namespace enginehost::cache
