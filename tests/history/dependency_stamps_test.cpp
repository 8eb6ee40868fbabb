// Records that depend on a missing file, and records of an unwritable folder.
#include <gtest/gtest.h>

#include "base/paths.hpp"
#include "host/history/store.hpp"
#include "tests/history/folder.hpp"

namespace enginehost::history {
namespace {

constexpr std::int64_t now = 1'000'000;

Record unfit(const Folder& folder, std::string_view library,
             const std::vector<std::filesystem::path>& searched) {
  Record record;
  record.build = "b";
  record.state = State::unfit;
  record.dependency_stamps = stamps_of_expected_paths(library, searched, folder.file("ld.so.cache", "one"));
  EXPECT_TRUE(write(folder.path, record));
  return record;
}

std::string why_stale(const Folder& folder) {
  const ReadResult read_back = read(folder.path, now);
  return read_back.stale.empty() ? "" : read_back.stale.front().why;
}

TEST(ExpectedPaths, EndsWhenTheLibraryAppearsInAnySearchedFolder) {
  const Folder folder;
  folder.file("one/other.so", "x");
  folder.file("two/other.so", "x");
  unfit(folder, "libx.so.1", {folder.path / "one", folder.path / "two"});
  EXPECT_EQ(why_stale(folder), "");
  folder.file("one/unrelated.so", "x");
  EXPECT_EQ(why_stale(folder), "") << "another library is no reason to try again";
  const auto file = folder.file("two/libx.so.1", "x");
  EXPECT_EQ(why_stale(folder), path_text(file) + " has appeared");
}

TEST(ExpectedPaths, EndsWhenASearchedFolderAppears) {
  const Folder folder;
  unfit(folder, "libx.so.1", {folder.path / "later"});
  EXPECT_EQ(why_stale(folder), "");
  folder.file("later/libx.so.1", "x");
  EXPECT_EQ(why_stale(folder), path_text(folder.path / "later") + " has appeared");
}

TEST(ExpectedPaths, EndsWhenTheLoadersCacheIsWrittenAgain) {
  const Folder folder;
  unfit(folder, "libx.so.1", {});
  EXPECT_EQ(why_stale(folder), "");
  folder.file("ld.so.cache", "longer");
  EXPECT_EQ(why_stale(folder), path_text(folder.path / "ld.so.cache") + " has changed");
}

TEST(ExpectedPaths, OfAnUnknownNameEndsWithAnyChangeOfTheFolders) {
  const Folder folder;
  folder.file("one/other.so", "x");
  unfit(folder, "", {folder.path / "one"});
  EXPECT_EQ(why_stale(folder), "");
  folder.file("one/anything.so", "x");
  EXPECT_EQ(why_stale(folder), path_text(folder.path / "one") + " has changed");
}

TEST(Unwritable, ARecordHoldsForThisProcessAndCanBeCleared) {
  const Folder folder;
  const auto state = folder.file("a-file", "where the folder should be");
  Record record;
  record.build = "b";
  record.state = State::quarantined;
  const auto written = write(state, record);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, "EH-F16");
  ASSERT_NE(read(state, now).history.find("b"), nullptr);
  EXPECT_EQ(read(state, now).history.find("b")->state, State::quarantined);
  EXPECT_TRUE(read_one(state, "b", now));
  EXPECT_EQ(read(folder.path, now).history.find("b"), nullptr) << "another state folder is another matter";
  const auto cleared = clear(state, "b");
  EXPECT_TRUE(cleared && *cleared);
  EXPECT_EQ(read(state, now).history.find("b"), nullptr);
}

TEST(Unwritable, ALaterWrittenRecordReplacesTheOneInMemory) {
  const Folder folder;
  const auto state = folder.path / "state";
  std::ofstream(state) << "in the way";
  Record record;
  record.build = "b";
  record.state = State::quarantined;
  EXPECT_FALSE(write(state, record));
  std::filesystem::remove(state);
  record.state = State::proven;
  EXPECT_TRUE(write(state, record));
  EXPECT_EQ(read(state, now).history.find("b")->state, State::proven);
}

}  // namespace
}  // namespace enginehost::history
