#include <gmock/gmock.h>

#include <limits>

#include "tests/manifest/trust_fixture.hpp"

namespace enginehost::manifest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(KeyIds, AreTakenAsMinisignPrintsThemWithoutLeadingZeros) {
  EXPECT_EQ(full_key_id("E5048FDCD1D82B6"), "0E5048FDCD1D82B6");
  EXPECT_EQ(full_key_id("0E5048FDCD1D82B6"), "0E5048FDCD1D82B6");
  EXPECT_EQ(full_key_id("1"), "0000000000000001");
  for (const char* wrong : {"", "00E5048FDCD1D82B6", "e5048fdcd1d82b6", "E5048 DCD1D82B6", "-1"})
    EXPECT_EQ(full_key_id(wrong), "") << wrong;
}

TEST_F(TrustTest, AnIndexSignedByAKeyOfTheTrustedRootIsRead) {
  put_all();
  trust(1);
  const auto content = load();
  ASSERT_TRUE(content) << content.error().code;
  EXPECT_THAT(content->signed_by, ElementsAre(test_key(1).public_key().id));
  EXPECT_EQ(content->manifests.size(), 1u);
  EXPECT_THAT(content->warnings, IsEmpty());
  EXPECT_EQ(store_.seen(location)->index_version, 7);
}

TEST_F(TrustTest, WithoutATrustedKeyNothingThatMustBeSignedIsUsed) {
  put_all();
  EXPECT_EQ(code(), "EH-M10");
  trust(2);
  const auto content = load();
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, "EH-M10");
  EXPECT_EQ(content.error().value(Key::key_id), test_key(2).public_key().id);
}

TEST_F(TrustTest, AKeyTrustedForAnotherRepositoryDoesNotCount) {
  put_all();
  trust(1, "https://other.example");
  EXPECT_EQ(code(), "EH-M10");
}

TEST_F(TrustTest, ARepositoryThatMayBeUnsignedIsReadWithoutSignatures) {
  file("index.json") = index_of(7).dump();
  const auto content = load(in_2026, false);
  ASSERT_TRUE(content);
  EXPECT_THAT(content->signed_by, IsEmpty());
  EXPECT_EQ(reader_.asked, 2) << "the index and its manifest";
}

TEST_F(TrustTest, ARepositoryThatWasSignedOnceIsNotTakenUnsignedAgain) {
  put_all();
  trust(1, "");
  ASSERT_TRUE(load(in_2026, false));
  for (auto it = reader_.files.begin(); it != reader_.files.end();)
    it = it->first.ends_with(".minisig") || it->first.ends_with("root.json") ? reader_.files.erase(it)
                                                                             : std::next(it);
  const auto content = load(in_2026, false);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, "EH-M08");
}

TEST_F(TrustTest, AsManyKeysAsTheThresholdSaysMustSign) {
  trust(1);
  put_root(root_of(1, {1, 2, 3}, 2), {1, 2});
  put_index(index_of(7), {1});
  const auto one = load();
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, "EH-M08");
  EXPECT_EQ(one.error().value(Key::expected), "2");
  EXPECT_EQ(one.error().value(Key::found), "1");
  put_index(index_of(7), {1, 3});
  EXPECT_EQ(code(), "");
}

TEST_F(TrustTest, OneKeyUnderTwoNamesDoesNotCountTwice) {
  trust(1);
  Root root = root_of(1, {1}, 1);
  RootKey twin = root.keys[0];
  twin.key.id = "00000000000000FF";
  root.keys.push_back(twin);
  root.root_threshold = root.index_threshold = 2;
  put_root(root, {1});
  const auto content = load();
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, "EH-M02");
}

TEST_F(TrustTest, AKeySignsOnlyWhatItsRolesAllow) {
  trust(1);
  Root root = root_of(1, {1, 2});
  root.keys[1].root = false;   // 2 signs indexes
  root.keys[0].index = false;  // 1 signs roots
  put_root(root, {1});
  put_index(index_of(7), {1});
  EXPECT_EQ(code(), "EH-M10");
  put_index(index_of(7), {2});
  EXPECT_EQ(code(), "");
}

TEST_F(TrustTest, FollowsTheNextRootSignedByOldAndNewKeys) {
  put_all();
  trust(1);
  ASSERT_TRUE(load());
  put_root(root_of(2, {2}), {2});
  put_index(index_of(8), {2});
  EXPECT_EQ(code(), "EH-M10") << "the old key has not signed";
  put_root(root_of(2, {2}), {1});
  EXPECT_EQ(code(), "EH-M10") << "the new key has not signed";
  put_root(root_of(2, {2}), {1, 2});
  EXPECT_EQ(code(), "");
  EXPECT_EQ(store_.seen(location)->root_version, 2);
}

TEST_F(TrustTest, RootsInBetweenLeadAcrossSeveralRotations) {
  put_all();
  trust(1);
  ASSERT_TRUE(load());
  put_root(root_of(2, {2}), {1, 2});
  put_root(root_of(3, {3}), {2, 3});
  put_index(index_of(8), {3});
  EXPECT_EQ(code(), "");
  EXPECT_EQ(store_.seen(location)->root_version, 3);
}

TEST_F(TrustTest, AnOldPublicKeyStillLeadsToTheNewestRoot) {
  trust(1);
  put_root(root_of(1, {1}), {1});
  put_root(root_of(2, {2}), {1, 2});
  put_root(root_of(3, {3}), {2, 3});
  put_index(index_of(8), {3});
  EXPECT_EQ(code(), "");
}

TEST_F(TrustTest, ATrustedKeyThatTheNewestRootHasRevokedLeadsNowhere) {
  trust(1);
  put_root(root_of(1, {1}), {1});
  Root second = root_of(2, {2});
  second.revoked = {test_key(1).public_key().id};
  put_root(second, {1, 2});
  put_index(index_of(8), {2});
  EXPECT_EQ(code(), "EH-M13");
}

TEST_F(TrustTest, WithANetworkAnExpiredIndexAllowsNoInstall) {
  put_all();
  trust(1);
  const auto content = load(1'830'000'000);  // 2027-12-28
  ASSERT_TRUE(content);
  EXPECT_EQ(content->expired, "2027-11-20T00:00:00Z");
  EXPECT_THAT(content->warnings, testing::Contains(HasSubstr("nothing new is installed")));
}

TEST_F(TrustTest, OfflineAnExpiredIndexServesWithinTheToleratedTime) {
  put_all();
  trust(1);
  const std::int64_t days_after = 1'826'668'800 + 3 * 86'400;
  EXPECT_EQ(load(days_after, true, true)->expired, "");
  max_staleness_ = 7 * 86'400;
  EXPECT_EQ(load(days_after, true, true)->expired, "");
  max_staleness_ = 86'400;
  EXPECT_EQ(load(days_after, true, true)->expired, "2027-11-20T00:00:00Z");
}

TEST_F(TrustTest, AClockThatWasSetBackDoesNotMakeAnIndexFreshAgain) {
  put_all();
  trust(1);
  Json newer = index_of(8);
  newer.set("expires", "2029-11-20T00:00:00Z");
  put_index(newer, {});
  sign("index.json", 1, Role::index, 8, 1'830'000'000);
  ASSERT_TRUE(load(in_2026));
  Json again = index_of(9);
  put_index(again, {1});
  EXPECT_EQ(load(in_2026)->expired, "2027-11-20T00:00:00Z");
}

TEST_F(TrustTest, TheRootExpiresAsTheIndexDoes) {
  put_all();
  trust(1);
  Json index = index_of(8);
  index.set("expires", "2039-11-20T00:00:00Z");
  put_index(index, {1});
  EXPECT_EQ(load(in_2030)->expired, "2029-01-01T00:00:00Z");
}

TEST_F(TrustTest, BlockedDigestsAreReadAndRemembered) {
  put_all();
  trust(1);
  Json index = index_of(8);
  index.set("blocked", Json::array().push(
                           Json::object().set("sha256", std::string(64, 'a')).set("reason", "CVE-2026-1")));
  put_index(index, {1});
  const auto content = load();
  ASSERT_TRUE(content);
  ASSERT_EQ(content->index.blocked.size(), 1u);
  ASSERT_EQ(store_.seen(location)->blocked.size(), 1u);
  EXPECT_EQ(store_.seen(location)->blocked[0].reason, "CVE-2026-1");
}

TEST_F(TrustTest, ARemovedKeyTakesItsRootsWithItButNotTheFloor) {
  put_all();
  trust(1);
  ASSERT_TRUE(load());
  ASSERT_TRUE(*store_.remove(test_key(1).public_key().id));
  EXPECT_FALSE(*store_.remove(test_key(1).public_key().id));
  EXPECT_EQ(code(), "EH-M10");
  EXPECT_EQ(store_.seen(location)->index_version, 7);
  trust(1);
  EXPECT_EQ(code(), "");
  put_index(index_of(6), {1});
  EXPECT_EQ(code(), "EH-M11");
}

// Key 1 is safe; an attacker has key 2, which signs indexes.
class StolenKey : public TrustTest {
 protected:
  StolenKey() {
    trust(1);
    put_root(keys_of(1, {2}), {1});
    put_index(index_of(7), {2});
    EXPECT_EQ(code(), "");
  }
  Root keys_of(std::int64_t version, const std::vector<int>& index_keys) {
    Root root = root_of(version, {1});
    root.keys[0].index = false;
    for (const int key : index_keys) root.keys.push_back({test_key(key).public_key(), false, true});
    return root;
  }
  void steal(std::int64_t serial, std::int64_t time = in_2026) {
    put_index(index_of(serial), {});
    sign("index.json", 2, Role::index, serial, time);
  }
};

TEST_F(StolenKey, TheFloorStartsOverWhenARootRemovesTheKey) {
  steal(7 + (std::int64_t{1} << 32), 1'826'000'000);
  EXPECT_EQ(code(), "");
  Root second = keys_of(2, {3});
  second.revoked = {test_key(2).public_key().id};
  put_root(second, {1});
  put_index(index_of(8), {3});
  EXPECT_EQ(code(), "");
  EXPECT_EQ(store_.seen(location)->index_version, 8);
  EXPECT_EQ(store_.seen(location)->time, in_2026 - 100);
  EXPECT_EQ(store_.seen(location)->floor_since, 2);
  put_index(index_of(7), {3});
  EXPECT_EQ(code(), "EH-M11") << "the new floor holds";
}

TEST_F(StolenKey, TheFloorStartsOverAlsoWithoutTheRootThatListedIt) {
  steal(1000);
  EXPECT_EQ(code(), "");
  ASSERT_TRUE(*store_.remove(test_key(1).public_key().id));
  trust(1);
  put_root(keys_of(2, {3}), {1});
  put_index(index_of(8), {3});
  EXPECT_EQ(code(), "");
}

TEST_F(StolenKey, AnotherRootWithTheSameKeysKeepsTheFloor) {
  put_root(keys_of(2, {2, 3}), {1});
  put_index(index_of(6), {2});
  EXPECT_EQ(code(), "EH-M11");
}

TEST_F(StolenKey, BlocksStayUntilAnIndexWasRead) {
  Json blocking = index_of(8);
  blocking.set(
      "blocked",
      Json::array().push(Json::object().set("sha256", std::string(64, 'a')).set("reason", "CVE-2026-1")));
  put_index(blocking, {2});
  ASSERT_EQ(code(), "");
  put_root(keys_of(2, {3}), {1});
  put_index(index_of(9), {2});
  EXPECT_EQ(code(), "EH-M10");
  EXPECT_EQ(store_.seen(location)->blocked.size(), 1u);
}

TEST_F(StolenKey, ASerialJumpsByABoundedStep) {
  for (const std::int64_t serial : {8 + (std::int64_t{1} << 32), std::numeric_limits<std::int64_t>::max()}) {
    steal(serial);
    const auto content = load();
    ASSERT_FALSE(content);
    EXPECT_EQ(content.error().code, "EH-M11");
    EXPECT_THAT(std::string(content.error().value(Key::problem)), HasSubstr("too far above the last one, 7"));
  }
}

TEST_F(StolenKey, ASignatureAfterTheDateOfExpiryIsRefused) {
  steal(8, std::int64_t{1} << 62);
  EXPECT_EQ(code(), "EH-M09");
  steal(8, 1'826'668'801);  // a second after
  EXPECT_EQ(code(), "EH-M09");
}

TEST_F(StolenKey, OneOfTwoKeysDoesNotDecideTheTime) {
  Root second = keys_of(2, {2, 3});
  second.index_threshold = 2;
  put_root(second, {1});
  for (const auto& [honest, stolen] : {std::pair(3, 2), std::pair(2, 3)}) {  // in either order
    put_index(index_of(8), {});
    sign("index.json", honest, Role::index, 8, in_2026);
    sign("index.json", stolen, Role::index, 8, 1'826'000'000);
    EXPECT_EQ(code(), "");
    EXPECT_EQ(store_.seen(location)->time, in_2026);
  }
}

TEST_F(StolenKey, AForgottenRepositoryIsNew) {
  steal(1000);
  EXPECT_EQ(code(), "");
  EXPECT_TRUE(*store_.forget(location));
  EXPECT_FALSE(*store_.forget(location));
  put_index(index_of(8), {2});
  EXPECT_EQ(code(), "");
}

TEST_F(TrustTest, TheSystemLayerIsAFloorAndItsKeysAreTrusted) {
  const std::filesystem::path layer = folder_ / "layer";
  const TrustStore prepared(layer / "state" / "another-machine", {});
  TrustedKey key;
  key.key = test_key(1).public_key();
  ASSERT_TRUE(prepared.add(key));
  put_all(20);
  Trust trust{prepared, true, false, {}};
  ASSERT_TRUE(load_repository(location, reader_, in_2026, &trust));

  const TrustStore user(folder_ / "user", {layer});
  Trust over{user, true, false, {}};
  EXPECT_TRUE(load_repository(location, reader_, in_2026, &over));
  put_index(index_of(19), {1});
  const auto old = load_repository(location, reader_, in_2026, &over);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, "EH-M11");
  EXPECT_FALSE((*user.keys())[0].own);
}

#ifndef _WIN32
// A layer that another user could have written gives no key, no floor and no root.
TEST_F(TrustTest, AnUntrustedLayerGivesNothing) {
  namespace fs = std::filesystem;
  const fs::path layer = folder_ / "layer", state = layer / "state", machine = state / "another-machine";
  const TrustStore prepared(machine, {});
  TrustedKey key;
  key.key = test_key(1).public_key();
  ASSERT_TRUE(prepared.add(key));
  put_all(20);
  Trust trust{prepared, true, false, {}};
  ASSERT_TRUE(load_repository(location, reader_, in_2026, &trust));
  const TrustStore user(folder_ / "user", {layer});
  const fs::path seen = prepared.files(location).back();
  for (const fs::path& path :
       {layer, state, machine, machine / "trust", machine / "trust" / "keys.json", seen}) {
    ASSERT_EQ(user.keys()->size(), 1u);
    ASSERT_EQ(user.seen(location)->index_version, 20);
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
    EXPECT_TRUE(user.keys()->empty()) << path;
    EXPECT_EQ(user.seen(location)->index_version, 0) << path;
    EXPECT_THAT(user.unreadable(), ElementsAre(HasSubstr(path.string() + ": everybody may write into it")));
    fs::permissions(path, fs::perms::others_write, fs::perm_options::remove);
  }
}
#endif

TEST_F(TrustTest, AReadOnlyStateFolderIsTrustedAndAFloorToo) {
  const std::filesystem::path state = folder_ / "read-only";
  const TrustStore before(state, {});
  TrustedKey key;
  key.key = test_key(1).public_key();
  ASSERT_TRUE(before.add(key));
  put_all(20);
  Trust trust{before, true, false, {}};
  ASSERT_TRUE(load_repository(location, reader_, in_2026, &trust));

  for (const std::filesystem::path& own : {folder_ / "user", std::filesystem::path()}) {
    const TrustStore now(own, {}, state);
    ASSERT_EQ(now.keys()->size(), 1u);
    EXPECT_FALSE((*now.keys())[0].own);
    Trust over{now, true, false, {}};
    put_index(index_of(20), {1});
    EXPECT_TRUE(load_repository(location, reader_, in_2026, &over));
    put_index(index_of(19), {1});
    const auto old = load_repository(location, reader_, in_2026, &over);
    ASSERT_FALSE(old);
    EXPECT_EQ(old.error().code, "EH-M11");
    const auto removed = now.remove(key.key.id);
    ASSERT_FALSE(removed) << "it would count on";
    EXPECT_EQ(removed.error().code, "EH-F16");
    EXPECT_EQ(removed.error().value(Key::folder), (state / "trust").string());
  }
  const auto files = TrustStore({}, {}, state).files(location);
  EXPECT_FALSE(files.empty()) << "a decision rests on them";
}

TEST_F(TrustTest, NothingIsWrittenWhenNothingChanged) {
  put_all();
  trust(1);
  ASSERT_TRUE(load());
  const auto file = store_.files(location).back();
  const auto before = stamp_of(file);
  ASSERT_TRUE(load());
  EXPECT_EQ(*before, *stamp_of(file));
}

TEST_F(TrustTest, AnIndexReplacedDuringTheReadIsFetchedAgain) {
  put_all();
  trust(1);
  // Serves the old signature once, as a server does between two writes.
  class Between : public DocumentReader {
   public:
    explicit Between(MemoryReader& real) : real_(real) {}
    Result<std::string> read(const std::string& where, std::uint64_t limit) override {
      auto bytes = real_.read(where, limit);
      if (where.ends_with("index.json") && first_) *bytes += " ";
      return bytes;
    }
    bool refetch() override {
      first_ = false;
      return true;
    }
    bool first_ = true;

   private:
    MemoryReader& real_;
  } between(reader_);
  Trust trust{store_, true, false, {}};
  EXPECT_TRUE(load_repository(location, between, in_2026, &trust));
  EXPECT_FALSE(between.first_);
}

TEST_F(TrustTest, MarkedBuildsHaveAReasonAndOthersStay) {
  file("index.json") = index_of(7).dump();
  auto content = load(in_2026, false);
  ASSERT_TRUE(content);
  const std::string digest = content->manifests[0]->components.begin()->second.artifacts[0].sha256;
  content->index.blocked.push_back({digest, "bad", ""});
  Catalog catalog;
  merge(catalog, *content);
  const std::size_t all = catalog.builds.size();
  mark(catalog, [](const std::string&) { return InstalledAs{}; });
  ASSERT_EQ(catalog.builds.size(), all);
  std::size_t blocked = 0;
  for (const auto& build : catalog.builds) {
    blocked += build->blocked.empty() ? 0 : 1;
    EXPECT_FALSE(build->all_components().empty());
  }
  EXPECT_GE(blocked, 1u);
}

// A repository that the request does not name blocks what came from it or what its keys signed.
TEST_F(TrustTest, ABlockOfAnotherRepositoryConcernsItsOwnBuilds) {
  file("index.json") = index_of(7).dump();
  const auto content = load(in_2026, false);
  ASSERT_TRUE(content);
  const std::string digest(64, 'd');
  const auto is_blocked = [&](const std::string& origin, const std::vector<std::string>& signers) {
    Catalog catalog;
    merge(catalog, *content);
    Blocked block{digest, "backdoor", "https://theirs.example/r"};
    block.everywhere = false;
    block.keys = {"00000000000000A1"};
    catalog.blocked.push_back(block);
    mark(catalog, [&](const std::string&) { return InstalledAs{{digest}, origin, signers}; });
    return !catalog.builds.front()->blocked.empty();
  };
  EXPECT_TRUE(is_blocked("https://theirs.example/r", {}));
  EXPECT_TRUE(is_blocked("https://theirs.example/r/", {})) << "another spelling";
  EXPECT_TRUE(is_blocked("https://mirror.example/r", {"00000000000000A1"})) << "signed by its key";
  EXPECT_TRUE(is_blocked("", {})) << "installed by an older EngineHost";
  EXPECT_FALSE(is_blocked("https://ours.example/r", {}));
  EXPECT_FALSE(is_blocked("https://ours.example/r", {"00000000000000A2"}));
}

}  // namespace
}  // namespace enginehost::manifest
