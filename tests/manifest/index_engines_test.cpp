// The index names the engine of each manifest: which manifests are read, and what is expected of a server.
#include <gmock/gmock.h>

#include <map>

#include "base/sha256.hpp"
#include "host/manifest/repository.hpp"
#include "tests/manifest/trust_fixture.hpp"

namespace enginehost::manifest {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* root = "https://r.example/x";

// A server that remembers what was announced and what was read.
class ListingReader : public DocumentReader {
 public:
  void expect(const std::vector<Expected>& documents) override {
    if (!documents.empty()) groups.push_back(documents);
  }
  Result<std::string> read(const std::string& location, std::uint64_t limit) override {
    read_paths.push_back(location.substr(std::string(root).size() + 1));
    const auto found = files.find(location);
    if (found == files.end())
      return fail(diagnose(Code::server_refuses).with(Key::url, location).with(Key::status, "404"));
    // As the server's reader: an expected document is cut off at the size that was announced.
    for (const auto& group : groups)
      for (const Expected& one : group)
        if (one.location == location) limit = std::min(limit, one.limit);
    if (found->second.size() > limit)
      return fail(diagnose(Code::fetched_length_wrong)
                      .with(Key::url, location)
                      .with(Key::actual, std::to_string(found->second.size())));
    return found->second;
  }
  std::optional<std::string> kept(const std::string& sha256) override {
    const auto found = memory.find(sha256);
    return found != memory.end() ? std::optional(found->second) : std::nullopt;
  }
  void keep(const std::string& sha256, const std::string& bytes) override {
    if (keeps) memory[sha256] = bytes;
  }
  std::map<std::string, std::string> files, memory;
  bool keeps = false;
  std::vector<std::string> read_paths;
  std::vector<std::vector<Expected>> groups;
};

class IndexEngines : public testing::Test {
 protected:
  static std::string manifest_of(const std::string& engine) {
    return changed(documents()["manifest"], "/engine", Json(engine)).dump();
  }
  // Adds a manifest under a path that names its engine, as publish writes it, or under another path.
  std::string add(const std::string& engine, std::string path = {}, std::string bytes = {}) {
    if (bytes.empty()) bytes = manifest_of(engine);
    const std::string digest = sha256_hex(bytes);
    if (path.empty()) path = "manifests/" + engine + "-" + digest + ".json";
    reader_.files[below(root, path)] = bytes;
    entries_.push(Json::object().set("path", path).set("sha256", digest).set("size", bytes.size()));
    return path;
  }
  RepositoryContent load(const std::set<std::string>& engines = {}) {
    reader_.read_paths.clear();
    reader_.groups.clear();
    reader_.files[below(root, "index.json")] = Json::object()
                                                   .set("format", 1)
                                                   .set("name", "test")
                                                   .set("serial", 1)
                                                   .set("manifests", entries_)
                                                   .dump();
    auto content = load_repository(root, reader_, in_2026, nullptr, engines);
    EXPECT_TRUE(content);
    return content ? std::move(*content) : RepositoryContent();
  }
  static std::vector<std::string> engines_of(const RepositoryContent& content) {
    std::vector<std::string> engines;
    for (const auto& manifest : content.manifests) engines.push_back(manifest->engine);
    return engines;
  }

  ListingReader reader_;
  Json entries_ = Json::array();
};

TEST_F(IndexEngines, OnlyTheNeededManifestsAreRead) {
  const std::string alpha = add("alpha"), beta = add("beta"), gamma = add("gamma-2.x");
  const RepositoryContent one = load({"beta"});
  EXPECT_THAT(engines_of(one), ElementsAre("beta"));
  EXPECT_THAT(reader_.read_paths, ElementsAre("index.json", beta));
  EXPECT_THAT(one.unread_engines, ElementsAre("alpha", "gamma-2.x"));
  EXPECT_THAT(engines_of(load({"gamma-2.x", "alpha"})), ElementsAre("alpha", "gamma-2.x"));
  EXPECT_THAT(engines_of(load({"refrence"})), IsEmpty());
  EXPECT_THAT(reader_.read_paths, ElementsAre("index.json"));
  const RepositoryContent all = load();
  EXPECT_THAT(engines_of(all), ElementsAre("alpha", "beta", "gamma-2.x"));
  EXPECT_THAT(all.unread_engines, IsEmpty());
}

// An index that was written by hand, or by an older version, names no engine.
TEST_F(IndexEngines, ManifestsWithoutAnEngineAreAlwaysRead) {
  const std::string digest = sha256_hex(manifest_of("beta"));
  add("alpha", "manifests/alpha-" + sha256_hex(manifest_of("alpha")).substr(0, 16) + ".json");
  add("beta", "manifests/Beta-" + digest + ".json");                    // no name of an engine
  add("gamma", "manifests/gamma-" + digest + ".json");                  // another digest than its own
  add("delta", "delta-" + sha256_hex(manifest_of("delta")) + ".json");  // in another folder
  add("epsilon", "manifests/" + sha256_hex(manifest_of("epsilon")) + ".json");
  const std::string zeta = add("zeta");
  add("eta");
  const RepositoryContent content = load({"zeta"});
  EXPECT_THAT(engines_of(content), ElementsAre("alpha", "beta", "gamma", "delta", "epsilon", "zeta"));
  EXPECT_THAT(content.unread_engines, ElementsAre("eta"));
  EXPECT_THAT(content.failures, IsEmpty());
}

TEST_F(IndexEngines, AManifestOfAnotherEngineIsRefused) {
  add("alpha");
  const std::string wrong = "manifests/beta-" + sha256_hex(manifest_of("gamma")) + ".json";
  add("gamma", wrong);
  for (const std::set<std::string>& engines : {std::set<std::string>(), {"beta", "alpha"}}) {
    const RepositoryContent content = load(engines);
    EXPECT_THAT(engines_of(content), ElementsAre("alpha"));
    ASSERT_THAT(content.failures, SizeIs(1));
    const Diagnosis& failure = content.failures[0];
    EXPECT_EQ(failure.code, "EH-M02");
    EXPECT_EQ(failure.value(Key::document), below(root, wrong));
    EXPECT_EQ(failure.value(Key::member), "engine");
    EXPECT_EQ(failure.value(Key::manifest_of), "beta");
    EXPECT_THAT(std::string(failure.value(Key::problem)),
                AllOf(HasSubstr("\"gamma\""), HasSubstr("\"beta\"")));
  }
  EXPECT_THAT(load({"gamma"}).failures, IsEmpty()) << "nothing is listed for gamma";
}

TEST_F(IndexEngines, NeededManifestsAreAnnouncedTogether) {
  std::vector<std::string> paths;
  for (int i = 0; i < 40; ++i) paths.push_back(add("engine" + std::to_string(i)));
  load();
  ASSERT_THAT(reader_.groups, SizeIs(1));
  ASSERT_THAT(reader_.groups[0], SizeIs(40));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(reader_.groups[0][i].location, below(root, paths[i]));
    EXPECT_EQ(reader_.groups[0][i].limit, reader_.files[below(root, paths[i])].size());
  }
}

// Documents that arrived and are not read yet stay in memory.
TEST_F(IndexEngines, AGroupIsBoundedByTheStatedSizes) {
  const std::string large(7u << 20, ' ');
  for (int i = 0; i < 5; ++i) {
    const std::string engine = "engine" + std::to_string(i);
    add(engine, {}, manifest_of(engine) + large);
  }
  EXPECT_THAT(engines_of(load()), SizeIs(5));
  EXPECT_THAT(reader_.groups, ElementsAre(SizeIs(3), SizeIs(2)));
  // A size that nobody stated counts as the largest.
  Json unknown = Json::array();
  for (const Json& entry : entries_.as_array())
    unknown.push(Json::object().set("path", entry["path"]).set("sha256", entry["sha256"]));
  entries_ = unknown;
  EXPECT_THAT(engines_of(load()), SizeIs(5));
  EXPECT_THAT(reader_.groups, ElementsAre(SizeIs(2), SizeIs(2), SizeIs(1)));
}

TEST_F(IndexEngines, ALongerManifestThanStatedDiffersFromTheIndex) {
  add("alpha");
  const std::string path = add("beta");
  const std::size_t stated = reader_.files[below(root, path)].size();
  reader_.files[below(root, path)] += "   ";
  const RepositoryContent content = load();
  EXPECT_THAT(engines_of(content), ElementsAre("alpha"));
  ASSERT_THAT(content.failures, SizeIs(1));
  EXPECT_EQ(content.failures[0].code, "EH-M05");
  EXPECT_EQ(content.failures[0].value(Key::expected_size), std::to_string(stated));
  EXPECT_EQ(content.failures[0].value(Key::size), std::to_string(stated + 3));
}

TEST_F(IndexEngines, KeptManifestsAreNotAnnounced) {
  reader_.keeps = true;
  add("alpha");
  const std::string beta = add("beta");
  load({"alpha"});
  EXPECT_THAT(engines_of(load()), ElementsAre("alpha", "beta"));
  ASSERT_THAT(reader_.groups, ElementsAre(SizeIs(1)));
  EXPECT_EQ(reader_.groups[0][0].location, below(root, beta));
  // A changed copy is fetched again.
  for (auto& [digest, bytes] : reader_.memory) bytes[0] = '[';
  EXPECT_THAT(engines_of(load()), ElementsAre("alpha", "beta"));
  EXPECT_THAT(reader_.groups, ElementsAre(SizeIs(2)));
}

// The failures and the manifests have the order of the index, whatever fails.
TEST_F(IndexEngines, TheOrderOfTheIndexStays) {
  for (const char* engine : {"delta", "alpha", "epsilon", "beta"}) add(engine);
  const std::string missing = add("gamma"), damaged = add("zeta");
  add("eta");
  reader_.files.erase(below(root, missing));
  reader_.files[below(root, damaged)].back() = ' ';
  const RepositoryContent content = load();
  EXPECT_THAT(engines_of(content), ElementsAre("delta", "alpha", "epsilon", "beta", "eta"));
  ASSERT_THAT(content.failures, SizeIs(2));
  EXPECT_EQ(content.failures[0].code, "EH-N04");
  EXPECT_EQ(content.failures[0].value(Key::manifest_of), "gamma");
  EXPECT_EQ(content.failures[1].code, "EH-M05");
}

TEST_F(IndexEngines, ACatalogListsUnreadEngines) {
  add("alpha");
  add("beta");
  Catalog catalog;
  merge(catalog, load({"beta"}));
  EXPECT_THAT(catalog.engines(), ElementsAre("alpha", "beta"));
  EXPECT_THAT(catalog.unread_engines, ElementsAre("alpha"));
}

// A key that is trusted for some engines.
class SignedIndexEngines : public TrustTest {
 protected:
  // An index that names the engines of two manifests; key 1 signs everything.
  void put_engines() {
    put_root(root_of(1, {1}), {1});
    Json entries = Json::array();
    for (const char* engine : {"pytorch", "other"}) {
      const std::string bytes = changed(documents()["manifest"], "/engine", Json(engine)).dump();
      const std::string path = path_of_manifest(engine, sha256_hex(bytes));
      file(path) = bytes;
      entries.push(
          Json::object().set("path", path).set("sha256", sha256_hex(bytes)).set("size", bytes.size()));
    }
    put_index(Json(index_of(7)).set("manifests", entries), {1});
  }
  void trust_for(const std::vector<std::string>& engines) {
    TrustedKey key;
    key.key = test_key(1).public_key();
    key.repository = location;
    key.engines = engines;
    ASSERT_TRUE(store_.add(key));
  }
};

TEST_F(SignedIndexEngines, WhatAKeyMayNotSignIsNeitherReadNorListed) {
  put_engines();
  trust_for({"pytorch"});
  const auto content = load();
  ASSERT_TRUE(content) << content.error().code;
  ASSERT_THAT(content->manifests, SizeIs(1));
  EXPECT_EQ(content->manifests[0]->engine, "pytorch");
  EXPECT_EQ(reader_.asked, 5) << "root, index, a signature of each, one manifest";
  Trust trust{store_, true, false, {}};
  const auto wanted = load_repository(location, reader_, in_2026, &trust, {"unknown"});
  ASSERT_TRUE(wanted);
  EXPECT_THAT(wanted->unread_engines, ElementsAre("pytorch"));
}

// Signatures are announced with the documents that they belong to, as soon as the keys are known.
TEST_F(SignedIndexEngines, DocumentsAreAnnouncedAsSoonAsTheirKeysAreKnown) {
  class AnnouncedReader : public DocumentReader {
   public:
    explicit AnnouncedReader(DocumentReader& from) : from_(from) {}
    void expect(const std::vector<Expected>& documents) override {
      rounds.emplace_back();
      for (const Expected& one : documents)
        if (announced.insert(one.location).second) rounds.back().push_back(one.location);
      if (rounds.back().empty()) rounds.pop_back();
    }
    Result<std::string> read(const std::string& where, std::uint64_t limit) override {
      EXPECT_TRUE(announced.contains(where)) << where << " costs a round trip of its own";
      return from_.read(where, limit);
    }
    std::set<std::string> announced;
    std::vector<std::vector<std::string>> rounds;

   private:
    DocumentReader& from_;
  };
  put_engines();
  trust_for({});
  Trust trust{store_, true, false, {}};
  const std::string id = test_key(1).public_key().id;
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again);
    AnnouncedReader announced(reader_);
    const auto content = load_repository(location, announced, in_2026, &trust, {"other"});
    ASSERT_TRUE(content) << content.error().code;
    EXPECT_THAT(content->manifests, SizeIs(1));
    const auto at = [](const std::string& path) { return below(location, path); };
    const std::string signature = at("index.json." + id + ".minisig");
    if (again) {
      EXPECT_THAT(announced.rounds, ElementsAre(ElementsAre(at("root.json"), at("index.json"), signature),
                                                ElementsAre(content->manifests[0]->name)));
    } else {
      EXPECT_THAT(
          announced.rounds,
          ElementsAre(ElementsAre(at("root.json"), at("index.json"), at("root.json." + id + ".minisig")),
                      ElementsAre(signature), ElementsAre(content->manifests[0]->name)));
    }
  }
}

}  // namespace
}  // namespace enginehost::manifest
