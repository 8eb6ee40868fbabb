#include "host/history/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/paths.hpp"
#include "tests/history/folder.hpp"

namespace enginehost::history {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Record record_of(const std::string& build, State state) {
  Record record;
  record.build = build;
  record.digest = "d1";
  record.artifacts_digest = "a1";
  record.state = state;
  record.diagnosis = Json::object().set("code", "EH-L01");
  record.host = {{"NVIDIA driver", "535.1"}};
  record.first_seen = 100;
  record.last_seen = 200;
  record.count = 3;
  return record;
}

TEST(Store, ARecordComesBackAsItWasWritten) {
  Folder folder;
  Record record = record_of("pytorch-2.0.1-cu118-linux-x86_64", State::unfit);
  record.dependency_stamps = {dependency_stamp_of(folder.file("present", "x")),
                              dependency_stamp_of(folder.path / "absent")};
  for (const char* engine : {"", "pytorch"}) {  // older versions do not write it
    record.engine = engine;
    ASSERT_TRUE(write(folder.path, record));
    const ReadResult result = read(folder.path, 1000);
    EXPECT_THAT(result.warnings, IsEmpty());
    const Record* back = result.history.find(record.build);
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(to_json(*back), to_json(record));
    EXPECT_EQ(back->engine, engine);
  }
}

TEST(Store, AMissingFolderIsAnEmptyHistory) {
  const ReadResult result = read("/nonexistent/state", 0);
  EXPECT_TRUE(result.history.records.empty());
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Store, AnUnreadableRecordIsIgnoredWithAWarning) {
  Folder folder;
  ASSERT_TRUE(write(folder.path, record_of("good", State::proven)));
  folder.file("history/torn.json", "{\"format\":1,\"bui");
  folder.file("history/empty.json", "");
  folder.file("history/newer.json", "{\"format\":1,\"build\":\"newer\",\"state\":\"transcendent\"}");
  folder.file("history/other.json", to_json(record_of("stranger", State::proven)).dump());
  folder.file("history/array.json", "[1,2]");
  const ReadResult result = read(folder.path, 0);
  EXPECT_THAT(result.history.records, SizeIs(1));
  EXPECT_THAT(result.warnings, SizeIs(5));
  EXPECT_THAT(result.unreadable, ::testing::UnorderedElementsAre("torn", "empty", "newer", "other", "array"));
}

TEST(Store, ABuildWithAnOddNameIsNamedWhenItsRecordCannotBeRead) {
  Folder folder;
  ASSERT_TRUE(write(folder.path, record_of("a b/c", State::disabled)));
  for (const auto& file : std::filesystem::directory_iterator(folder.path / "history"))
    std::filesystem::resize_file(file.path(), 9);
  EXPECT_THAT(read(folder.path, 0).unreadable, ::testing::ElementsAre("a b/c"));
}

TEST(Store, AnInvalidRecordsFolderIsReportedAndNotTakenForEmpty) {
  Folder folder;
  folder.file("history", "x");
  EXPECT_THAT(read(folder.path, 0).warnings,
              ::testing::ElementsAre(HasSubstr(path_text(folder.path / "history") + " cannot be read")));
}

TEST(Store, AFolderInARecordsPlaceIsReplacedAndCleared) {
  Folder folder;
  folder.file("history/one.json/x", "x");
  EXPECT_THAT(read(folder.path, 0).unreadable, ::testing::ElementsAre("one"));
  ASSERT_TRUE(write(folder.path, record_of("one", State::disabled)));
  EXPECT_THAT(read(folder.path, 0).history.records, SizeIs(1));
  ASSERT_TRUE(clear(folder.path, "one").value());
  folder.file("history/one.json/x", "x");
  EXPECT_TRUE(clear(folder.path, "one").value());
  EXPECT_FALSE(std::filesystem::exists(folder.path / "history/one.json"));
}

TEST(Store, AQuarantineInAReadOnlyFolderCounts) {
  Folder folder, other;
  ASSERT_TRUE(write(folder.path, record_of("disabled", State::proven)));
  ASSERT_TRUE(write(folder.path, record_of("later", State::proven)));
  Record earlier = record_of("earlier", State::proven);
  earlier.last_seen = 100;
  ASSERT_TRUE(write(folder.path, earlier));
  Record disabled = record_of("disabled", State::disabled), later = record_of("later", State::quarantined);
  disabled.last_seen = later.last_seen = 100;
  ASSERT_TRUE(write(other.path, disabled));
  ASSERT_TRUE(write(other.path, later));
  ASSERT_TRUE(write(other.path, record_of("earlier", State::quarantined)));
  ASSERT_TRUE(write(other.path, record_of("proven there", State::proven)));
  ReadResult both = read(folder.path, 0);
  add_quarantined(both, read(other.path, 0));
  EXPECT_EQ(both.history.find("disabled")->state, State::disabled) << "whenever that was";
  EXPECT_EQ(both.history.find("later")->state, State::proven) << "it is the younger";
  EXPECT_EQ(both.history.find("earlier")->state, State::quarantined);
  EXPECT_EQ(both.history.find("proven there"), nullptr);
}

TEST(Store, ALibraryThatAppearsMakesTheRecordStale) {
  Folder folder;
  Record record = record_of("b", State::unfit);
  record.dependency_stamps = {dependency_stamp_of(folder.path / "libcudart.so.12")};
  ASSERT_TRUE(write(folder.path, record));
  EXPECT_NE(read(folder.path, 0).history.find("b"), nullptr);
  folder.file("libcudart.so.12", "now installed");
  const ReadResult result = read(folder.path, 0);
  EXPECT_EQ(result.history.find("b"), nullptr);
  ASSERT_THAT(result.stale, SizeIs(1));
  EXPECT_THAT(result.stale[0].why, HasSubstr("libcudart.so.12 has appeared"));
  EXPECT_FALSE(read_one(folder.path, "b", 0));
}

TEST(Store, AChangedOrMissingDependencyMakesTheRecordStale) {
  Folder folder;
  const auto file = folder.file("libx.so", "one");
  Record record = record_of("b", State::proven);
  record.dependency_stamps = {dependency_stamp_of(file)};
  ASSERT_TRUE(write(folder.path, record));
  EXPECT_TRUE(read_one(folder.path, "b", 0));
  folder.file("libx.so", "another size");
  EXPECT_THAT(read(folder.path, 0).stale.at(0).why, HasSubstr("has changed"));
  std::filesystem::remove(file);
  EXPECT_THAT(read(folder.path, 0).stale.at(0).why, HasSubstr("is gone"));
}

TEST(Store, AnotherMachineMakesTheRecordStaleWithAReason) {
  Folder folder;
  ASSERT_TRUE(write(folder.path, record_of("b", State::unfit)));
  const Fingerprint same = {{"NVIDIA driver", "535.1"}}, newer = {{"NVIDIA driver", "580.2"}}, unknown = {};
  EXPECT_NE(read(folder.path, 0, &same).history.find("b"), nullptr);
  EXPECT_NE(read(folder.path, 0, &unknown).history.find("b"), nullptr)
      << "a driver that did not answer is no change";
  const ReadResult result = read(folder.path, 0, &newer);
  ASSERT_THAT(result.stale, SizeIs(1));
  EXPECT_THAT(result.stale[0].why, HasSubstr("NVIDIA driver changed from \"535.1\" to \"580.2\""));
}

TEST(Store, DistinguishesRecordsOfAnotherProgramFromEndedOnes) {
  Folder folder;
  Record record = record_of("b", State::unfit);
  record.host = {{"NVIDIA driver", "535.1"}, {std::string(program_part), "/usr/bin/player 1a2b"}};
  ASSERT_TRUE(write(folder.path, record));
  const std::string program(program_part);
  const Fingerprint other = {{"NVIDIA driver", "535.1"}, {program, "/usr/bin/viewer 3c4d"}};
  EXPECT_EQ(read(folder.path, 0, &other).history.find("b"), nullptr);
  EXPECT_EQ(read(folder.path, 0, &other).stale.at(0).program, "/usr/bin/player 1a2b");
  const Fingerprint newer = {{"NVIDIA driver", "580.2"}, {program, "/usr/bin/viewer 3c4d"}};
  EXPECT_EQ(read(folder.path, 0, &newer).stale.at(0).program, "") << "the driver ended it";
}

TEST(Store, AQuarantineEndsWithItsTime) {
  Folder folder;
  Record record = record_of("b", State::quarantined);
  record.retry_after = 500;
  ASSERT_TRUE(write(folder.path, record));
  EXPECT_NE(read(folder.path, 499).history.find("b"), nullptr);
  EXPECT_EQ(read(folder.path, 500).history.find("b"), nullptr);
}

TEST(Store, ABuildThatTheUserDisabledStaysDisabled) {
  Folder folder;
  Record record = record_of("b", State::disabled);
  record.retry_after = 1;
  record.dependency_stamps = {dependency_stamp_of(folder.path / "x")};
  ASSERT_TRUE(write(folder.path, record));
  folder.file("x", "");
  const Fingerprint other = {{"NVIDIA driver", "580.2"}};
  EXPECT_NE(read(folder.path, 1'000'000'000, &other).history.find("b"), nullptr);
}

TEST(Store, ClearReturnsWhetherThereWasARecord) {
  Folder folder;
  ASSERT_TRUE(write(folder.path, record_of("b", State::quarantined)));
  EXPECT_TRUE(*clear(folder.path, "b"));
  EXPECT_FALSE(*clear(folder.path, "b"));
  EXPECT_TRUE(read(folder.path, 0).history.records.empty());
}

TEST(Store, ABuildIdNeverLeavesTheFolder) {
  Folder folder;
  for (const char* id : {"../../etc/passwd", "a/b", "..", ".hidden", "with space"}) {
    ASSERT_TRUE(write(folder.path, record_of(id, State::unfit))) << id;
    EXPECT_TRUE(read_one(folder.path, id, 0)) << id;
  }
  EXPECT_THAT(read(folder.path, 0).history.records, SizeIs(5));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path))
    EXPECT_TRUE(entry.path().parent_path() == folder.path ||
                entry.path().parent_path() == folder.path / "history");
}

TEST(Store, AnUnwritableFolderIsReportedByName) {
  Folder folder;
  folder.file("state", "a file where the folder should be");
  const auto result = write(folder.path / "state", record_of("b", State::unfit));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-F16");
}

}  // namespace
}  // namespace enginehost::history
