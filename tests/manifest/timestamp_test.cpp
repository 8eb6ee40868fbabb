// timestamp.json: a server cannot hide a newer index for longer than the timestamp is valid.
#include <gmock/gmock.h>

#include "tests/manifest/trust_fixture.hpp"

namespace enginehost::manifest {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Key 1 signs root and index, key 4 the timestamps.
class Timestamps : public TrustTest {
 protected:
  Timestamps() {
    trust(1);
    put_root(with_timestamps(1), {1});
    put_index(index_of(7), {1});
    put_timestamp(100);
  }
  Root with_timestamps(std::int64_t version, int key = 4) {
    Root root = root_of(version, {1});
    root.timestamp_keys = {test_key(key).public_key()};
    return root;
  }
  // For the present index, unless another serial is given.
  void put_timestamp(std::int64_t version, std::int64_t expires = in_2026 + 3600, int key = 4,
                     std::int64_t serial = 0) {
    Timestamp timestamp;
    timestamp.name = "test";
    timestamp.version = version;
    timestamp.created = text_of_time(in_2026);
    timestamp.expires = text_of_time(expires);
    const auto index = parse_json(file("index.json"), "index");
    timestamp.index_serial = serial > 0 ? serial : (*index)["serial"].as_integer();
    timestamp.index_sha256 = sha256_hex(file("index.json"));
    drop_signatures("timestamp.json");
    file("timestamp.json") = publish::to_json(timestamp).dump(1);
    sign("timestamp.json", key, Role::timestamp, version);
  }
};

TEST_F(Timestamps, AValidOneIsTakenAndItsVersionIsAFloor) {
  const auto content = load();
  ASSERT_TRUE(content) << content.error().code;
  EXPECT_EQ(content->expired, "");
  EXPECT_TRUE(content->warnings.empty());
  EXPECT_EQ(store_.seen(location)->timestamp_version, 100);
  put_timestamp(99);
  EXPECT_EQ(code(), "EH-M11");
}

TEST_F(Timestamps, AnExpiredOneAllowsNoInstall) {
  put_timestamp(100, in_2026 - 60);
  const auto content = load();
  ASSERT_TRUE(content);
  EXPECT_EQ(content->expired, text_of_time(in_2026 - 60));
  EXPECT_THAT(content->warnings, Contains(HasSubstr("the timestamp of repository")));
  EXPECT_FALSE(content->manifests.empty()) << "what is installed still opens";
}

TEST_F(Timestamps, OfflineNoneIsNeeded) {
  put_timestamp(100, in_2026 - 60);
  EXPECT_EQ(load(in_2026, true, true)->expired, "");
  reader_.files.erase(std::string(location) + "/timestamp.json");
  EXPECT_TRUE(load(in_2026, true, true));
}

TEST_F(Timestamps, M08WithoutOneNothingIsUsed) {
  reader_.files.erase(std::string(location) + "/timestamp.json");
  const auto content = load();
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, "EH-M08");
  EXPECT_THAT(std::string(content.error().value(Key::document)), HasSubstr("timestamp.json"));
}

TEST_F(Timestamps, M11ANewerIndexCannotBeHidden) {
  ASSERT_EQ(code(), "");
  put_timestamp(101, in_2026 + 3600, 4, 8);
  EXPECT_EQ(code(), "EH-M11");
}

TEST_F(Timestamps, M11AnotherIndexOfTheSameVersionIsRefused) {
  const std::string genuine = file("index.json");
  put_timestamp(101);
  put_index(index_of(7).set("created", "2026-01-01T00:00:00Z"), {1});
  EXPECT_EQ(code(), "EH-M11");
}

TEST_F(Timestamps, AnIndexThatIsNewerThanTheTimestampIsTaken) {
  put_index(index_of(8), {1});
  EXPECT_EQ(code(), "") << "published between two timestamps";
}

TEST_F(Timestamps, OnlyTheKeysForTimestampsSignThem) {
  for (const int key : {1, 3}) {
    put_timestamp(101, in_2026 + 3600, key);
    EXPECT_EQ(code(), "EH-M10") << key;
  }
  put_timestamp(101);
  put_index(index_of(8), {4});
  EXPECT_EQ(code(), "EH-M10") << "and they sign nothing else";
}

TEST_F(Timestamps, ASignatureOfAnotherDocumentDoesNotServe) {
  drop_signatures("timestamp.json");
  sign("timestamp.json", 4, Role::index, 100);
  EXPECT_EQ(code(), "EH-M09");
}

TEST_F(Timestamps, AStolenKeyThatIsRemovedLeavesNoFloor) {
  put_timestamp(100 + (std::int64_t{1} << 31));
  ASSERT_EQ(code(), "");
  put_root(with_timestamps(2, 5), {1});
  put_timestamp(101, in_2026 + 3600, 5);
  EXPECT_EQ(code(), "");
  EXPECT_EQ(store_.seen(location)->timestamp_version, 101);
}

TEST(TimestampDocument, IsReadAsItIsWritten) {
  Timestamp timestamp{"engines", "2026-11-27T00:00:00Z", "2026-11-29T00:00:00Z", 5, 12, std::string(64, 'a')};
  const auto read = read_timestamp(publish::to_json(timestamp), "timestamp.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(publish::to_json(*read).dump(), publish::to_json(timestamp).dump());
  for (const char* member : {"name", "version", "expires", "index"}) {
    Json damaged = publish::to_json(timestamp);
    damaged.set(member, nullptr);
    EXPECT_FALSE(read_timestamp(damaged, "timestamp.json")) << member;
  }
}

}  // namespace
}  // namespace enginehost::manifest
