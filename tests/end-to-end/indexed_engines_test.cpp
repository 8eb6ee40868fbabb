// A repository of many engines: which documents a server is asked for, and that every answer stays the same.
#include <gmock/gmock.h>

#include <cstdio>
#include <sstream>

#include "base/sha256.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/fault_server.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

std::string engine_name(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "engine%02d", number);
  return text;
}

// The paths that were asked for since the last call, sorted, with any status but 200 behind them.
class Requests {
 public:
  explicit Requests(const NginxServer& server) : server_(server) {}
  std::vector<std::string> since() {
    std::istringstream lines(server_.log());
    std::vector<std::string> paths;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      std::string method, path, status;
      std::istringstream(line) >> method >> path >> status;
      if (number >= seen_) paths.push_back(path + (status == "200" ? "" : " " + status));
    }
    seen_ = number;
    std::sort(paths.begin(), paths.end());
    return paths;
  }

 private:
  const NginxServer& server_;
  std::size_t seen_ = 0;
};

std::vector<std::string> candidates(const Ended& ended) {
  std::vector<std::string> builds;
  for (const Json& one : ended.document["candidates"].as_array()) builds.push_back(one["build"].as_string());
  return builds;
}

Ended plan(const Workplace& user, const std::string& engine, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {engine, "--plan", "--json"});
  return user.info(std::move(more));
}

// Published and signed with the commands.
class IndexedEngines : public Publisher {
 protected:
  void SetUp() override {
    Publisher::SetUp();
    if (IsSkipped()) return;
    sh("engine-manifest init repository --name Many\n"
       "engine-manifest add repository toy --engine reference --version 1.0.0 --flavor cpu --plugin "
       "libengine_toy.so\n"
       "minisign -G -W -p key.pub -s key.key");
    const std::string text = read_text(publisher_ / "repository/engines/reference.json");
    for (int i = 0; i < count; ++i)
      write_text(
          publisher_ / ("repository/engines/" + engine_name(i) + ".json"),
          replaced(replaced(text, "\"engine\": \"reference\"", "\"engine\": \"" + engine_name(i) + "\""),
                   "\"reference-1.0.0", "\"" + engine_name(i) + "-1.0.0"));
    std::filesystem::remove(publisher_ / "repository/engines/reference.json");
    sh("engine-manifest sign repository --key key.key\n"
       "engine-manifest publish repository /srv/www/engines\n"
       "engine-cache trust add key.pub");
    configure();
    const std::string comment = read_text(publisher_ / "key.pub");
    const std::size_t id = comment.find("key ") + 4;
    key_ = comment.substr(id, comment.find('\n') - id);
    key_.insert(0, 16 - key_.size(), '0');
    requests_.since();
  }
  std::string path_of(const std::string& engine) const {
    const std::string bytes = read_text(publisher_ / ("repository/engines/" + engine + ".json"));
    return "/engines/manifests/" + engine + "-" + sha256_hex(bytes) + ".json";
  }
  std::string signature(const std::string& document) const {
    return "/engines/" + document + "." + key_ + ".minisig";
  }

  static constexpr int count = 100;
  std::string key_;
  Requests requests_{server_};
};

TEST_F(IndexedEngines, APlanAsksForTheManifestOfItsEngine) {
  const Ended first = plan(user_, "engine07");
  EXPECT_EQ(first.status, 0) << first.said();
  EXPECT_THAT(candidates(first), ElementsAre(HasSubstr("engine07-1.0.0")));
  EXPECT_THAT(first.document["warnings"].as_array(), IsEmpty()) << first.said();
  EXPECT_THAT(requests_.since(),
              UnorderedElementsAre("/engines/root.json", signature("root.json"), "/engines/index.json",
                                   signature("index.json"), path_of("engine07")));
  EXPECT_EQ(plan(user_, "engine07").status, 0);
  EXPECT_THAT(requests_.since(), IsEmpty()) << "copies serve for an hour";
  EXPECT_EQ(plan(user_, "engine42").status, 0);
  EXPECT_THAT(requests_.since(), ElementsAre(path_of("engine42")));
  // The root is known, so everything that it names is asked for at once; the manifest is kept by its digest.
  EXPECT_EQ(plan(user_, "engine07", {"--refresh"}).status, 0);
  EXPECT_THAT(requests_.since(),
              UnorderedElementsAre("/engines/root.json", "/engines/index.json", signature("index.json")));
}

TEST_F(IndexedEngines, AMisspeltEngineIsComparedWithAllNames) {
  const Ended ended = plan(user_, "engin77");
  EXPECT_EQ(ended.code(), "EH-S02") << ended.said();
  EXPECT_EQ(evidence(ended.diagnosis(), "nearest"), "engine77");
  EXPECT_THAT(evidence_list(ended.diagnosis(), "known"), AllOf(HasSubstr("engine00"), HasSubstr("engine99")));
  EXPECT_THAT(requests_.since(), Not(testing::Contains(HasSubstr("/manifests/"))));
}

TEST_F(IndexedEngines, TheListOfEnginesReadsEveryManifest) {
  const Ended machine = user_.info({"--json"});
  EXPECT_EQ(machine.status, 0) << machine.said();
  std::vector<std::string> engines, expected, paths;
  for (const Json& one : machine.document["engines"].as_array()) engines.push_back(one["engine"].as_string());
  for (int i = 0; i < count; ++i) {
    expected.push_back(engine_name(i));
    paths.push_back(path_of(engine_name(i)));
  }
  EXPECT_EQ(engines, expected);
  const std::vector<std::string> asked = requests_.since();
  EXPECT_THAT(asked, IsSupersetOf(paths));
  EXPECT_THAT(asked, SizeIs(count + 4)) << "and the index, the root and their signatures";
}

TEST_F(IndexedEngines, OfflineAStoredManifestServesAndAnotherIsNamed) {
  EXPECT_EQ(plan(user_, "engine07").status, 0);
  requests_.since();
  const Ended stored = plan(user_, "engine07", {"--offline"});
  EXPECT_THAT(candidates(stored), ElementsAre(HasSubstr("engine07-1.0.0"))) << stored.said();
  const Ended missing = plan(user_, "engine08", {"--offline"});
  EXPECT_EQ(missing.code(), "EH-N10") << missing.said();
  EXPECT_THAT(evidence(missing.diagnosis(), "url"), HasSubstr(path_of("engine08")));
  EXPECT_EQ(evidence(missing.diagnosis(), "nearest"), "");
  EXPECT_THAT(requests_.since(), IsEmpty());
}

TEST_F(IndexedEngines, AForcedBuildOfAnotherEngineIsKnown) {
  const std::string build = candidates(plan(user_, "engine42")).at(0);
  const Ended ended = plan(user_, "engine07", {"--force", build});
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.document["warnings"].dump(), Not(HasSubstr("EH-S22"))) << "it belongs to another request";
  const Ended unknown = plan(user_, "engine07", {"--force", build + "-x"});
  EXPECT_THAT(unknown.document["warnings"].dump(), HasSubstr("EH-S22"));
}

TEST_F(IndexedEngines, AKeyForSomeEnginesOffersNoOthers) {
  sh("engine-cache trust remove " + key_ + "\nengine-cache trust add key.pub --repository " + location() +
     " --engines engine07,engine08");
  EXPECT_EQ(plan(user_, "engine07").status, 0);
  const Ended refused = plan(user_, "engine09");
  EXPECT_EQ(refused.code(), "EH-S02") << refused.said();
  EXPECT_EQ(evidence_list(refused.diagnosis(), "known"), "engine07\nengine08\n");
  EXPECT_THAT(requests_.since(), Not(testing::Contains(path_of("engine09"))));
}

TEST_F(IndexedEngines, TheCommandsReadWhatTheyPublished) {
  sh("engine-manifest lint /srv/www/engines");
  // A second signing finds nothing to change.
  sh("engine-manifest sign repository --key key.key\nengine-manifest publish repository /srv/www/engines");
  EXPECT_THAT(said_, AllOf(HasSubstr("nothing left to sign"), HasSubstr("holds index 1 of Many already")));
}

// Written by hand: nobody signs it, and its paths may name engines or not.
class UnsignedEngines : public testing::Test {
 protected:
  enum class Naming { none, every_second, all };

  // A repository of that many engines on the server.
  void serve(const NginxServer& server, const std::string& folder, int engines, Naming naming,
             const std::string& version = "1.0.0") const {
    const std::filesystem::path root = server.root() / folder;
    TestRepository made(root);
    made.serve_from(server.url(folder + "/"));
    TestBuild build = good_build("reference-1");
    build.version = version;
    made.add(build);
    made.write();
    const std::string text = read_text(root / "reference.json");
    Json entries = Json::array();
    for (int i = 0; i < engines; ++i) {
      const std::string engine = engine_name(i);
      const std::string bytes = replaced(replaced(text, "\"reference-1", "\"" + engine + "-" + version),
                                         "\"engine\": \"reference\"", "\"engine\": \"" + engine + "\"");
      const bool named = naming == Naming::all || (naming == Naming::every_second && i % 2 == 1);
      entries.push(entry(root, bytes, named ? engine : "", engine + ".json"));
    }
    write_index(root, entries);
  }
  // Stores a manifest, listed for that engine; without one under the other path.
  static Json entry(const std::filesystem::path& root, const std::string& bytes, const std::string& engine,
                    std::string path) {
    const std::string digest = sha256_hex(bytes);
    if (!engine.empty()) path = "manifests/" + engine + "-" + digest + ".json";
    write_text(root / path, bytes);
    return Json::object().set("path", path).set("sha256", digest).set("size", bytes.size());
  }
  static void write_index(const std::filesystem::path& root, const Json& entries) {
    write_text(root / "index.json", Json::object()
                                        .set("format", 1)
                                        .set("name", "many")
                                        .set("serial", 1)
                                        .set("manifests", entries)
                                        .dump(1));
  }
  static Json unsigned_at(const std::string& url) {
    return Json::object().set("location", url).set("unsigned", true);
  }
  void configure(Json repositories, Json more = Json::object()) const {
    more.set("repositories_default", false).set("repositories", std::move(repositories));
    user_.configure(more);
  }

  Workplace user_;
  NginxServer server_;
};

TEST_F(UnsignedEngines, AnIndexWithoutNamesIsReadWhole) {
  serve(server_, "old", 12, Naming::none);
  configure(Json::array().push(unsigned_at(server_.url("old"))));
  Requests requests(server_);
  const Ended ended = plan(user_, "engine05");
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(candidates(ended), ElementsAre("engine05-1.0.0"));
  EXPECT_THAT(requests.since(), SizeIs(13));
  const Ended misspelt = plan(user_, "engin11");
  EXPECT_EQ(evidence(misspelt.diagnosis(), "nearest"), "engine11") << misspelt.said();
}

TEST_F(UnsignedEngines, OnlyManifestsWithoutANameAreReadAsWell) {
  serve(server_, "mixed", 12, Naming::every_second);
  configure(Json::array().push(unsigned_at(server_.url("mixed"))));
  Requests requests(server_);
  const Ended named = plan(user_, "engine05");
  EXPECT_THAT(candidates(named), ElementsAre("engine05-1.0.0")) << named.said();
  EXPECT_THAT(requests.since(), SizeIs(8)) << "the index, the manifest and six without a name";
  const Ended unnamed = plan(user_, "engine04");
  EXPECT_THAT(candidates(unnamed), ElementsAre("engine04-1.0.0")) << unnamed.said();
  EXPECT_THAT(requests.since(), IsEmpty());
}

TEST_F(UnsignedEngines, AnIndexThatNamesAnotherEngineIsReported) {
  serve(server_, "wrong", 6, Naming::all);
  const std::filesystem::path root = server_.root() / "wrong";
  Json entries = Json::array();
  const auto index = parse_json(read_text(root / "index.json"), "index.json");
  ASSERT_TRUE(index);
  for (const Json& one : (*index)["manifests"].as_array()) entries.push(one);
  // The manifest of engine06 is listed for engine07.
  const std::string text = read_text(root / "reference.json");
  const std::string bytes = replaced(replaced(text, "\"reference-1", "\"engine06-1.0.0"),
                                     "\"engine\": \"reference\"", "\"engine\": \"engine06\"");
  entries.push(entry(root, bytes, "engine07", ""));
  write_index(root, entries);
  configure(Json::array().push(unsigned_at(server_.url("wrong"))));
  const Ended wanted = plan(user_, "engine07");
  EXPECT_EQ(wanted.code(), "EH-M02") << wanted.said();
  EXPECT_EQ(wanted.status, 5);
  EXPECT_THAT(wanted.diagnosis().dump(), AllOf(HasSubstr("engine06"), HasSubstr("engine07")));
  const Ended other = plan(user_, "engine03");
  EXPECT_EQ(other.status, 0) << other.said();
  const Ended machine = user_.info({"--json"});
  EXPECT_THAT(machine.document["failures"].dump(), HasSubstr("EH-M02")) << machine.said();
  EXPECT_THAT(machine.document["engines"].as_array(), SizeIs(6));
  // lint finds it as well.
  const Ended lint = user_.run("engine-manifest", {"lint", root.native()});
  EXPECT_NE(lint.status, 0);
  EXPECT_THAT(lint.said(), AllOf(HasSubstr("engine06"), HasSubstr("engine07"))) << lint.said();
}

TEST_F(UnsignedEngines, SeveralRepositoriesKeepTheirOrder) {
  NginxServer second;
  serve(server_, "first", 8, Naming::all, "1.0.0");
  serve(second, "second", 10, Naming::every_second, "2.0.0");
  const Json one = unsigned_at(server_.url("first")), two = unsigned_at(second.url("second"));
  configure(Json::array().push(one).push(two));
  const Ended both = plan(user_, "engine03");
  EXPECT_THAT(candidates(both), ElementsAre("engine03-1.0.0")) << both.said();
  EXPECT_THAT(both.document["warnings"].dump(),
              AllOf(HasSubstr("also offers engine03"), Not(HasSubstr("also offers engine05"))));
  EXPECT_THAT(candidates(plan(user_, "engine09")), ElementsAre("engine09-2.0.0"));
  configure(Json::array().push(two).push(one));
  EXPECT_THAT(candidates(plan(user_, "engine03")), ElementsAre("engine03-2.0.0"));
  // A repository that is limited to other engines does not answer, and its names are no suggestions.
  configure(Json::array().push(Json(two).set("engines", Json::array().push("engine09"))).push(one));
  EXPECT_THAT(candidates(plan(user_, "engine03")), ElementsAre("engine03-1.0.0"));
  EXPECT_THAT(candidates(plan(user_, "engine09")), ElementsAre("engine09-2.0.0"));
  const Ended unknown = plan(user_, "engine08");
  EXPECT_EQ(unknown.code(), "EH-S02") << unknown.said();
  EXPECT_THAT(evidence_list(unknown.diagnosis(), "known"),
              AllOf(HasSubstr("engine07"), HasSubstr("engine09"), Not(HasSubstr("engine08"))));
}

TEST_F(UnsignedEngines, AMirrorServesTheFilesOfTheEngine) {
  serve(server_, "many", 10, Naming::all);
  NginxServer mirror;
  std::filesystem::copy(server_.root() / "many/files", mirror.root() / "copy");
  configure(Json::array().push(unsigned_at(server_.url("many"))),
            Json::object().set(
                "mirrors",
                Json::array().push(
                    Json::object().set("of", server_.url("many/files")).set("use", mirror.url("copy")))));
  Requests requests(server_);
  const Ended fetched = user_.run("engine-cache", {"fetch", "engine04", "--json"});
  EXPECT_EQ(fetched.status, 0) << fetched.said();
  EXPECT_THAT(requests.since(), ElementsAre("/many/index.json", HasSubstr("/many/manifests/engine04-")));
  EXPECT_EQ(mirror.requests("GET /copy/"), 1);
}

TEST_F(UnsignedEngines, TheSameHoldsOverTls) {
  const Certificates certificates;
  const int port = free_port();
  NginxServer secure(certificates.directives(port) +
                     " location = /connections { return 200 \"$connection\"; }");
  serve(secure, "many", 20, Naming::all);
  configure(Json::array().push(unsigned_at("https://localhost:" + std::to_string(port) + "/many")),
            Json::object().set("extra_ca", certificates.authority()));
  Requests requests(secure);
  const Ended ended = plan(user_, "engine13");
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(candidates(ended), ElementsAre("engine13-1.0.0"));
  EXPECT_THAT(requests.since(), ElementsAre("/many/index.json", HasSubstr("/many/manifests/engine13-")));
  EXPECT_EQ(user_.info({"--json"}).document["engines"].as_array().size(), 20u);
}

// A server that accepts connections and never answers costs one wait, not one for each repository on it.
TEST_F(UnsignedEngines, ASilentServerOfTwoRepositoriesCostsOneWait) {
  serve(server_, "many", 5, Naming::all);
  FaultServer silent(
      [](const FaultServer::Request&, FaultServer::Connection& connection) { connection.stall(60s); });
  configure(
      Json::array()
          .push(unsigned_at(silent.url("a")))
          .push(unsigned_at(silent.url("b")))
          .push(unsigned_at(server_.url("many"))),
      Json::object().set("downloads", Json::object().set("stall_timeout_seconds", 12).set("retries", 0)));
  const auto began = std::chrono::steady_clock::now();
  const Ended ended = plan(user_, "engine02");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s) << "a document has six seconds";
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(candidates(ended), ElementsAre("engine02-1.0.0"));
  EXPECT_EQ(silent.requests(), 2);
  EXPECT_THAT(ended.said(), AllOf(HasSubstr("/a/index.json was not sent in time"),
                                  HasSubstr("/b/index.json was not sent in time")));
}

}  // namespace
}  // namespace enginehost::test
