// An archive's digest stands for bytes only where all of them were hashed: other manifests may name the
// digest, too.
#include "host/acquire/installed_parts.hpp"

#include <utility>

#include "cache/record_names.hpp"
#include "host/acquire/growing_file.hpp"
#include "tests/acquire/acquire_fixture.hpp"

namespace enginehost::acquire {
namespace {

const std::string good =
    "\x7f"
    "ELF good " +
    test::noise(200'000);
const std::string evil =
    "\x7f"
    "ELF evil " +
    test::noise(200'000, 2);

class HashedWhole : public AcquireTest {
 protected:
  HashedWhole() {
    offer_good("zip", {});
    stranger.manifest->engine = stranger.build->engine = "other";
    stranger.build->id = "other-1.0-cpu-linux-x86_64";
    test::give_plugin(stranger, folder / "stranger");
  }
  static std::vector<test::ArchiveEntry> entries(const std::string& library) {
    return {{"lib/libruntime.so.1", library}, {"share/words", test::noise(50'000, 3)}};
  }
  void offer_good(const std::string& kind, const std::vector<std::string>& select) {
    offer(test::make_archive(kind, entries(good)), kind);
    artifact().select = select;
  }
  manifest::Artifact& of_stranger() { return stranger.runtime().artifacts.at(0); }
  // The stranger's build names the genuine archive's digest and lets files of his own be fetched by ranges.
  void lie() {
    const std::string archive = test::make_archive("zip", entries(evil));
    test::write_text(server.root() / "evil", archive);
    stranger.runtime().artifacts = {
        SampleBuild::artifact(archive, "zip", {SampleBuild::url(server.url("evil"))})};
    std::vector<std::string> select = artifact().select;
    if (select.empty()) select = {"*", "lib/*", "share/*"};
    test::name_files(of_stranger(), entries(evil), select, server.root() / "evil");
    of_stranger().select = artifact().select;
    of_stranger().sha256 = artifact().sha256;
    of_stranger().ranges = {{0, archive.find("PK\1\2")}};
  }
  void install_strangers_build() {
    const auto installed = acquire(*stranger.build, store, options);
    ASSERT_TRUE(installed) << installed.error().code;
    ASSERT_EQ(test::read_text(installed->installed.folder / "lib/libruntime.so.1"), evil);
  }
  void expect_good() {
    const auto result = get();
    ASSERT_TRUE(result) << result.error().code << " " << result.error().value(Key::problem);
    EXPECT_EQ(test::read_text(result->installed.folder / "lib/libruntime.so.1"), good);
    const auto problems = store.verify(sample.build->id, true);
    ASSERT_TRUE(problems);
    EXPECT_TRUE(problems->empty());
    const auto again = get();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->downloaded, 0u) << "it stays installed";
  }
  fs::path older_note() const {
    return folder / "cache/lists" /
           ("of-" + archive_key(sample.manifest->components.at("runtime").artifacts[0]));
  }
  // Leaves the cache as a version did that noted the tree of every archive and of every selection of ranges.
  void make_older() {
    for (const auto& list : fs::directory_iterator(folder / "cache/lists")) {
      const std::string name = path_text(list.path().filename());
      if (name.starts_with("of-whole-"))
        fs::rename(list.path(), list.path().parent_path() / ("of-" + name.substr(9)));
    }
  }
  std::string tree_of(const SampleBuild& of) { return (*store.record_of(of.build->id))->trees.at(1); }

  SampleBuild stranger;
};

TEST_F(HashedWhole, RangesOfAStrangerAreNoArchive) {
  for (const auto& select : std::vector<std::vector<std::string>>{{}, {"lib/*"}, {"lib/*", "share/*"}}) {
    offer_good("zip", select);
    lie();
    install_strangers_build();
    expect_good();
    for (const SampleBuild* one : {&sample, &stranger}) ASSERT_TRUE(store.remove(one->build->id));
  }
}

TEST_F(HashedWhole, ANamedTreeOrDigestIsInstalledWhateverAStrangerHas) {
  expect_good();
  const cache::Installed genuine = **store.record_of(sample.build->id);
  ASSERT_TRUE(store.remove(sample.build->id));
  lie();
  install_strangers_build();
  artifact().tree = genuine.trees.at(1);
  expect_good();
  ASSERT_TRUE(store.remove(sample.build->id));
  artifact().tree.clear();
  sample.build->digest = genuine.digest;
  expect_good();
}

TEST_F(HashedWhole, ARecordOfAnotherRepositoryUnderTheSameIdIsNotTaken) {
  stranger.build->id = sample.build->id;
  lie();
  for (const char* engine : {"sample", "other"}) {
    stranger.manifest->engine = stranger.build->engine = engine;
    install_strangers_build();
    EXPECT_EQ((*store.record_of(stranger.build->id))->files_by, "manifest");
    // As the catalog calls it here.
    sample.build->id = cache::RecordNames(store.list()).name_of(sample.build->engine, stranger.build->id);
    expect_good();
    EXPECT_EQ((*store.record_of(sample.build->id))->files_by, "archive");
    ASSERT_TRUE(store.remove(sample.build->id));
  }
}

// Nothing is fetched here: the stranger's files came with their own digest.
TEST_F(HashedWhole, ATreeThatIsHereIsNotTheArchiveBecauseAManifestSaysSo) {
  lie();
  of_stranger().ranges.clear();
  of_stranger().sha256 = sha256_hex(test::read_text(server.root() / "evil"));
  install_strangers_build();
  stranger.build->id = sample.build->id;
  stranger.manifest->engine = stranger.build->engine = "sample";
  of_stranger().sha256 = artifact().sha256;
  of_stranger().sources = {SampleBuild::url(server.url("nothing"))};
  install_strangers_build();
  expect_good();
}

TEST_F(HashedWhole, AHashedArchiveServesOtherBuildsAndStaysWhatItIs) {
  expect_good();
  lie();
  install_strangers_build();
  sample.build->id = "sample-1.0-other";
  options.transfer.offline = true;
  expect_good();
  EXPECT_EQ(server.requests("GET /runtime"), 1);
}

TEST_F(HashedWhole, EveryKindOfArchiveIsFetchedAndHashed) {
  for (const char* kind : {"tar", "tar.gz", "tar.xz", "tar.zst", "none"}) {
    if (std::string(kind) == "none") {
      offer(good, kind);
      artifact().path = "lib/libruntime.so.1";
    } else {
      offer_good(kind, {"lib/*"});
    }
    lie();
    install_strangers_build();
    expect_good();
    for (const SampleBuild* one : {&sample, &stranger}) ASSERT_TRUE(store.remove(one->build->id));
  }
}

TEST_F(HashedWhole, BytesThatAStrangerLeftBehindAreFetchedAgain) {
  const std::string note = received_note({{0, bytes.size()}}, bytes.size());
  std::string forged(place_of_received_note(bytes.size()), 'x');
  for (const std::string& left :
       {std::string(bytes.size(), 'x'), bytes.substr(0, bytes.size() - 9) + "123456789", forged + note,
        std::string(3 * bytes.size(), 'x')}) {
    ASSERT_TRUE(store.prepare());
    test::write_text(store.partial(artifact().sha256), left);
    expect_good();
    ASSERT_TRUE(store.remove(sample.build->id));
  }
  // Both name the same ranges; the stranger's are interrupted.
  test::name_files(artifact(), entries(good), {"lib/*"}, server.root() / "runtime");
  artifact().ranges = {{0, bytes.find("PK\3\4", 4)}};
  lie();
  of_stranger().ranges = artifact().ranges;
  of_stranger().size = artifact().size;
  test::FaultServer cutting([&](const auto& request, auto& to) {
    to.send("HTTP/1.1 206 Partial\r\nETag: \"v\"\r\nContent-Length: " +
            std::to_string(artifact().ranges[0].end) + "\r\nContent-Range: bytes 0-" +
            std::to_string(artifact().ranges[0].end - 1) + "/" + std::to_string(bytes.size()) + "\r\n\r\n");
    if (request.method != "HEAD") to.send(std::string(100'000, 'x'));
  });
  of_stranger().sources = {SampleBuild::url(cutting.url("evil"))};
  options.transfer.retries = 0;
  EXPECT_FALSE(acquire(*stranger.build, store, options));
  ASSERT_FALSE(fs::is_empty(folder / "cache/partial"));
  expect_good();
}

TEST_F(HashedWhole, ALayersBuildOfAStrangerIsNotTaken) {
  stranger.build->id = sample.build->id;
  lie();
  const cache::Store layer = cache::Store::open(folder / "layer", {}, "acquire_test");
  ASSERT_TRUE(acquire(*stranger.build, layer, options));
  store = cache::Store::open(folder / "cache", {folder / "layer"}, "acquire_test");
  expect_good();
  EXPECT_FALSE((*store.find(sample.build->id, [](const auto& one) { return !one.read_only; }))->read_only);
}

TEST_F(HashedWhole, AnUnhashedBuildIsRepairedWithItsOwnBytes) {
  lie();
  install_strangers_build();
  const fs::path file = store.root() / "trees" / tree_of(stranger) / "lib/libruntime.so.1";
  fs::remove(file);
  fs::remove((*store.record_of(stranger.build->id))->folder / "lib/libruntime.so.1");
  // Only the genuine archive is left to be fetched from.
  of_stranger().sources = artifact().sources;
  const auto repaired = repair(stranger.build->id, stranger.build.get(), store, options);
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->left.size(), 1u) << "other bytes do not take a file's place";
  expect_good();
}

// A cache as it was before only whole archives were noted.
class OlderCache : public HashedWhole {};

TEST_F(OlderCache, WhatWasInstalledOpensOffline) {
  ASSERT_EQ(code(), "ok");
  make_older();
  ASSERT_TRUE(fs::exists(older_note()));
  options.transfer.offline = true;
  expect_good();
  // The next version of the program brings another plugin, and the same wheel.
  const std::string plugin =
      test::make_archive("tar.gz", {{"libengine_sample.so", test::plugin_bytes + " 2"}});
  test::write_text(folder / "repository/plugin.tar.gz", plugin);
  sample.manifest->components["plugin"].artifacts = {
      SampleBuild::artifact(plugin, "tar.gz", {SampleBuild::file("plugin.tar.gz")})};
  for (int time = 0; time < 2; ++time) {
    expect_good();
    EXPECT_EQ(installed_text("libengine_sample.so"), test::plugin_bytes + " 2");
  }
  EXPECT_EQ(server.requests("GET /runtime"), 1);
}

TEST_F(OlderCache, AnotherBuildThatNamesTheTreeOpensOffline) {
  ASSERT_EQ(code(), "ok");
  const std::string tree = tree_of(sample);
  make_older();
  options.transfer.offline = true;
  sample.build->id = "sample-1.0-other";
  EXPECT_EQ(code(), "EH-N10") << "nothing proves the tree, neither its manifest nor its record";
  artifact().tree = tree;
  expect_good();
}

TEST_F(OlderCache, ANoteThatIsWrongIsPassedOver) {
  lie();
  install_strangers_build();
  const std::string wrong = tree_of(stranger);
  test::write_text(older_note(), wrong + "\n");
  expect_good();
  const cache::Installed genuine = **store.record_of(sample.build->id);
  ASSERT_TRUE(store.remove(sample.build->id));
  for (const bool by_digest : {false, true}) {
    if (by_digest)
      sample.build->digest = genuine.digest;
    else
      artifact().tree = genuine.trees.at(1);
    test::write_text(older_note(), wrong + "\n");
    expect_good();
    ASSERT_TRUE(store.remove(sample.build->id));
    artifact().tree.clear();
  }
}

// Its record is all that an older version left; nothing shows that its bytes are wrong until the archive was
// hashed.
TEST_F(OlderCache, AWrongRecordEndsWithItsRemovalOrWithTheHashedArchive) {
  for (const bool removed : {true, false}) {
    lie();
    install_strangers_build();
    test::write_text(older_note(), tree_of(stranger) + "\n");
    cache::Installed record = **store.record_of(stranger.build->id);
    record.build = sample.build->id;
    record.engine = sample.build->engine;
    record.origin = sample.manifest->repository;
    record.artifacts_digest = sample.build->artifacts_digest();
    record.files_by = "archive";
    ASSERT_TRUE(store.write_ref(record));
    ASSERT_EQ(code(), "ok");
    EXPECT_EQ(installed_text("lib/libruntime.so.1"), evil);
    if (removed) {
      ASSERT_TRUE(store.remove(sample.build->id));
    } else {
      const std::string id = std::exchange(sample.build->id, "sample-1.0-other");
      expect_good();
      sample.build->id = id;
    }
    expect_good();
    for (const std::string& id : {sample.build->id, stranger.build->id, std::string("sample-1.0-other")})
      static_cast<void>(store.remove(id));
  }
}

// An older version sweeps notes by the same rule: the name begins with "of-", and the tree's id comes first.
TEST_F(OlderCache, ASweepKeepsANoteAsLongAsItsTree) {
  ASSERT_EQ(code(), "ok");
  ASSERT_TRUE(store.sweep());
  sample.build->id = "sample-1.0-other";
  options.transfer.offline = true;
  expect_good();
  for (const char* id : {"sample-1.0-other", "sample-1.0-cpu-linux-x86_64"}) ASSERT_TRUE(store.remove(id));
  for (const auto& list : fs::directory_iterator(folder / "cache/lists")) ADD_FAILURE() << list.path();
}

}  // namespace
}  // namespace enginehost::acquire
