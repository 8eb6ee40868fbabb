// Limits of a key that is trusted for some engines: it blocks no builds of other engines, and
// becomes no first root of a place that has keys of its own.
#include <gmock/gmock.h>

#include "tests/manifest/trust_fixture.hpp"

namespace enginehost::manifest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class KeysOfSomeEngines : public TrustTest {
 protected:
  static constexpr const char* everywhere = "";

  void trust_for(int key, std::vector<std::string> engines, const std::string& repository) {
    TrustedKey trusted;
    trusted.key = test_key(key).public_key();
    trusted.repository = repository;
    trusted.engines = std::move(engines);
    ASSERT_TRUE(store_.add(trusted));
  }
  // A repository of the key's owner, with a high serial and many roots, that blocks a digest.
  void put_all_of(int key, std::int64_t serial, std::int64_t root_version = 1) {
    put_root(root_of(root_version, {key}), {key});
    Json blocked = Json::array();
    blocked.push(Json::object().set("sha256", digest_).set("reason", "spite"));
    put_index(index_of(serial).set("blocked", std::move(blocked)), {key});
  }
  static bool is_blocked(const Blocked& block, const std::string& engine) {
    const auto manifest = std::make_shared<Manifest>();
    const auto build = std::make_shared<Build>();
    build->id = "build";
    build->engine = engine;
    build->manifest = manifest;
    build->digest = block.sha256;
    Catalog catalog;
    catalog.builds = {build};
    catalog.blocked = {block};
    mark(catalog, [&](const std::string&) { return InstalledAs{{block.sha256}, "", {}}; });
    return !catalog.builds.front()->blocked.empty();
  }
  std::vector<Blocked> remembered() const {
    const auto seen = store_.all_seen();
    EXPECT_TRUE(seen);
    std::vector<Blocked> blocked;
    for (const auto& [place, one] : *seen)
      blocked.insert(blocked.end(), one.blocked.begin(), one.blocked.end());
    return blocked;
  }

  const std::string digest_ = std::string(64, 'd');
};

using LimitedBlocks = KeysOfSomeEngines;

TEST_F(LimitedBlocks, CountForTheEnginesOfTheKeyOnly) {
  trust_for(1, {"toy", "puppet"}, location);
  put_all_of(1, 7);
  const auto content = load();
  ASSERT_TRUE(content);
  Catalog catalog;
  merge(catalog, *content);
  ASSERT_EQ(catalog.blocked.size(), 1u);
  for (const bool asked_for : {true, false}) {
    Blocked block = catalog.blocked.front();
    block.everywhere = asked_for;
    EXPECT_TRUE(is_blocked(block, "toy"));
    EXPECT_TRUE(is_blocked(block, "puppet"));
    EXPECT_FALSE(is_blocked(block, "pytorch")) << "also by the digest of its tree, build or archive";
  }
}

TEST_F(LimitedBlocks, KeepTheirLimitWhenTheyWereReadOnce) {
  trust_for(1, {"toy"}, location);
  put_all_of(1, 7);
  ASSERT_TRUE(load());
  ASSERT_EQ(remembered().size(), 1u);
  EXPECT_THAT(remembered().front().engines, ElementsAre("toy"));
  ASSERT_TRUE(*store_.remove(test_key(1).public_key().id));
  ASSERT_EQ(remembered().size(), 1u) << "a block holds without its key";
  EXPECT_FALSE(is_blocked(remembered().front(), "pytorch"));
  EXPECT_TRUE(is_blocked(remembered().front(), "toy"));
}

TEST_F(LimitedBlocks, KeepTheirLimitUnderAnotherRoot) {
  trust_for(1, {"toy"}, location);
  put_all_of(1, 7);
  ASSERT_TRUE(load());
  put_root(root_of(2, {2}), {1, 2});
  Json blocked = Json::array();
  blocked.push(Json::object().set("sha256", digest_).set("reason", "spite"));
  put_index(index_of(8).set("blocked", std::move(blocked)), {2});
  const auto content = load();
  ASSERT_TRUE(content);
  EXPECT_THAT(content->index.blocked.at(0).engines, ElementsAre("toy"));
}

TEST_F(LimitedBlocks, OfAKeyWithoutALimitCountForAll) {
  trust_for(1, {}, location);
  put_all_of(1, 7);
  const auto content = load();
  ASSERT_TRUE(content);
  EXPECT_THAT(content->index.blocked.at(0).engines, IsEmpty());
  EXPECT_TRUE(is_blocked(remembered().at(0), "pytorch"));
}

using FirstRoots = KeysOfSomeEngines;

TEST_F(FirstRoots, AreNotOfALimitedKeyWhereThePlaceHasKeys) {
  trust_for(2, {"pytorch"}, everywhere);
  for (const std::string& place : {std::string(location), std::string(location) + "/",
                                   std::string("https://ENGINES.example:443/repository")}) {
    trust_for(1, {}, place);
    put_all_of(2, 7);
    EXPECT_EQ(code(), "EH-M10") << place;
    EXPECT_THAT(remembered(), IsEmpty()) << place;
    put_all();
    EXPECT_EQ(code(), "") << place;
    ASSERT_TRUE(*store_.remove(test_key(1).public_key().id));
    ASSERT_TRUE(store_.forget(location));
  }
}

TEST_F(FirstRoots, OfALimitedKeyCountWhereThePlaceHasNone) {
  trust_for(2, {"pytorch"}, everywhere);
  trust_for(1, {}, "https://other.example/repository");
  put_all_of(2, 7);
  EXPECT_EQ(code(), "");
}

TEST_F(FirstRoots, OfAKeyWithoutALimitCountEverywhere) {
  trust_for(2, {}, everywhere);
  trust_for(1, {}, location);
  put_all_of(2, 7);
  EXPECT_EQ(code(), "");
}

// The key of the place was trusted later, or an older version read the other documents.
TEST_F(FirstRoots, OfTheOtherKeyGiveWayToThePlacesOwn) {
  trust_for(2, {"pytorch"}, everywhere);
  put_all_of(2, 4'000, 50);
  ASSERT_EQ(code(), "");
  trust_for(1, {}, location);
  EXPECT_THAT(remembered(), IsEmpty()) << "nor do its blocks count";
  EXPECT_EQ(code(), "EH-M10");
  put_all();
  EXPECT_EQ(code(), "") << "lower versions than those of the other key";
  EXPECT_EQ(store_.seen(location)->root_version, 1);
  EXPECT_EQ(store_.seen(location)->index_version, 7);
  put_all_of(2, 5'000, 60);
  EXPECT_NE(code(), "") << "after first contact, too";
  put_all();
  EXPECT_EQ(code(), "");
}

TEST_F(FirstRoots, OfTheOtherKeyLeaveNoVersionsWhenItIsRemoved) {
  trust_for(2, {"pytorch"}, everywhere);
  put_all_of(2, 4'000, 50);
  ASSERT_EQ(code(), "");
  trust_for(1, {}, location);
  ASSERT_TRUE(*store_.remove(test_key(2).public_key().id));
  put_all();
  EXPECT_EQ(code(), "");
}

// The memory of a read-only layer cannot be replaced.
TEST_F(FirstRoots, OfTheOtherKeyInALayerDoNotCount) {
  trust_for(2, {"pytorch"}, everywhere);
  put_all_of(2, 4'000, 50);
  ASSERT_EQ(code(), "");
  std::filesystem::create_directories(folder_ / "layer/state");
  std::filesystem::rename(folder_ / "trust", folder_ / "layer/state/trust");
  std::filesystem::create_directories(folder_ / "layer/state/machine");
  std::filesystem::rename(folder_ / "layer/state/trust", folder_ / "layer/state/machine/trust");
  store_ = TrustStore(folder_ / "own", {folder_ / "layer"});
  EXPECT_EQ(code(), "") << "the layer's key and memory are used";
  trust_for(1, {}, location);
  put_all();
  EXPECT_EQ(code(), "");
  EXPECT_THAT(remembered(), IsEmpty());
}

TEST(EnginesOfOneId, AreSeparateBuildsOfACatalog) {
  const auto manifest_of = [](const std::string& engine, const std::string& repository) {
    Json document = documents()["manifest"];
    return *read_manifest(document.set("engine", engine), repository, engine);
  };
  Catalog catalog;
  merge(catalog, manifest_of("pytorch", "ours"));
  const std::size_t builds = catalog.builds.size();
  merge(catalog, manifest_of("toy", "theirs"));
  EXPECT_EQ(catalog.builds.size(), 2 * builds);
  EXPECT_THAT(catalog.shadowed, IsEmpty());
  merge(catalog, manifest_of("pytorch", "others"));
  EXPECT_EQ(catalog.builds.size(), 2 * builds) << "of the same engine the earlier one counts";
  EXPECT_EQ(catalog.shadowed.size(), builds);
}

TEST(EnginesOfOneId, AreCalledOtherwiseWithTheirManifest) {
  Json document = documents()["manifest"];
  Catalog catalog;
  merge(catalog, *read_manifest(document, "ours", "name"));
  const auto build = called(catalog.builds.front(), "toy+other");
  const std::string published = catalog.builds.front()->id;
  catalog = {};
  EXPECT_EQ(build->id, "toy+other");
  EXPECT_EQ(build->published_id, published);
  EXPECT_FALSE(build->all_components().empty()) << "the manifest is alive";
}

}  // namespace
}  // namespace enginehost::manifest
