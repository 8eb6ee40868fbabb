// Lock files: written by engine-cache lock, and opened with by the commands.
#include <gmock/gmock.h>

#include "tests/end-to-end/publisher.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string version_of(const Ended& opened) {
  const std::string& build = opened.outcome()["build"].as_string();
  const std::size_t begin = build.find('-') + 1;
  return build.substr(begin, build.find('-', begin) - begin);
}

// "linux-x86_64 1.0.0" of each entry.
std::vector<std::string> entries_of(const std::filesystem::path& lock) {
  std::vector<std::string> entries;
  const Json document = *parse_json(read_text(lock), "lock");
  for (const Json& entry : document["engines"].as_array())
    entries.push_back(entry["platform"].as_string() + " " + entry["version"].as_string());
  return entries;
}

class LockFiles : public Publisher {
 protected:
  void SetUp() override {
    Publisher::SetUp();
    if (IsSkipped()) return;
    publish_signed();
    const Ended locked = lock({"reference"});
    ASSERT_EQ(locked.status, 0) << locked.said();
  }
  void publish(const std::string& version) {
    sh("echo " + version +
       " > toy/share/words.txt\n"
       "engine-manifest add repository toy --engine reference --version " +
       version + " --flavor cpu --plugin libengine_toy.so\n" + sign_and_publish);
    an_hour_passes();
  }
  Ended cache(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.push_back("--json");
    return user_.run("engine-cache", std::move(arguments), options);
  }
  Ended lock(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.begin(), "lock");
    arguments.insert(arguments.end(), {"-o", file_.native()});
    return cache(std::move(arguments), options);
  }
  Ended open_locked(const std::string& engine = "reference", const RunOptions& options = {}) {
    return user_.info({engine, "--lock", file_.native(), "--json"}, options);
  }
  // Removes what is installed, and keeps the trusted key.
  void empty_the_cache() {
    const Ended listed = cache({"list"});
    for (const Json& build : listed.document["builds"].as_array())
      cache({"remove", build["build"].as_string()});
  }

  const std::filesystem::path file_ = user_.folder() / "enginehost.lock";
  static constexpr const char* sign_and_publish =
      "engine-manifest sign repository --key key.key\nengine-manifest publish repository /srv/www/engines\n";
};

TEST_F(LockFiles, HoldABuildWhileTheRepositoryGoesOn) {
  publish("1.1.0");
  EXPECT_EQ(version_of(open_locked()), "1.0.0") << "it is fetched, although a newer one is listed";
  RunOptions newest;
  newest.environment = {"ENGINEHOST_UPDATE=open"};
  EXPECT_EQ(version_of(user_.info({"reference", "--json"}, newest)), "1.1.0");
  EXPECT_EQ(version_of(open()), "1.1.0");
  EXPECT_EQ(version_of(open_locked("reference", newest)), "1.0.0");
  EXPECT_EQ(version_of(open_locked("reference@1.0")), "1.0.0");
  RunOptions by_variable;
  by_variable.environment = {"ENGINEHOST_LOCK=" + file_.native()};
  EXPECT_EQ(version_of(user_.info({"reference", "--json"}, by_variable)), "1.0.0");

  user_.configure(Json::object()
                      .set("repositories_default", false)
                      .set("repositories", Json::array().push(location()))
                      .set("lock", file_.native()));
  EXPECT_EQ(version_of(open()), "1.0.0");
  const Ended relocked = lock({"reference"});
  ASSERT_EQ(relocked.status, 0) << relocked.said();
  EXPECT_EQ(relocked.document["replaced"].as_array().at(0)["version"].as_string(), "1.0.0");
  EXPECT_EQ(version_of(open()), "1.1.0");
  const Ended update = user_.run("engine-cache", {"update"});
  EXPECT_THAT(update.output, HasSubstr("is locked by " + file_.native()));
  EXPECT_EQ(cache({"rollback", "reference"}).code(), "EH-P40");
}

TEST_F(LockFiles, ReportBothDigestsWhenTheyDiffer) {
  ASSERT_EQ(version_of(open_locked()), "1.0.0");
  publish("1.0.0");  // the same version with another file
  EXPECT_EQ(version_of(open_locked()), "1.0.0") << "the installed build has the locked bytes";
  EXPECT_EQ(cache({"verify", "--deep"}).status, 0);
  empty_the_cache();
  const Ended refused = open_locked();
  EXPECT_EQ(refused.status, 5) << refused.code();
  EXPECT_EQ(refused.code(), "EH-S41");
  const auto digest_of = [&](const char* what) {
    const std::string said = evidence(refused.diagnosis(), what);
    return said.starts_with("SHA-256 ") ? said.substr(8) : "\"" + said + "\"";
  };
  EXPECT_THAT(read_text(file_), HasSubstr(digest_of("want")));
  EXPECT_THAT(read_text(publisher_ / "repository/engines/reference.json"), HasSubstr(digest_of("have")));
  EXPECT_NE(digest_of("want"), digest_of("have"));
  EXPECT_EQ(evidence(refused.diagnosis(), "repository"), location());
}

TEST_F(LockFiles, DoNotHelpAWithdrawnBuild) {
  publish("1.1.0");
  ASSERT_EQ(version_of(open_locked()), "1.0.0");
  sh("python3 - <<'END'\n"
     "import json\n"
     "name = 'repository/engines/reference.json'\n"
     "document = json.load(open(name))\n"
     "[one for one in document['builds'] if one['version'] == '1.0.0'][0]['yanked'] = 'computes wrong sums'\n"
     "json.dump(document, open(name, 'w'))\n"
     "END\n" +
     std::string(sign_and_publish));
  an_hour_passes();
  const Ended refused = open_locked();
  EXPECT_EQ(refused.code(), "EH-S45") << refused.said();
  EXPECT_EQ(evidence(refused.diagnosis(), "reason"), "computes wrong sums");
  EXPECT_EQ(version_of(open()), "1.1.0");
}

TEST_F(LockFiles, DoNotHelpABlockedArchiveOfAChangedRow) {
  ASSERT_EQ(version_of(open_locked()), "1.0.0");
  const Json lock = *parse_json(read_text(file_), "lock");
  std::string archive;
  for (const Json& component : lock["engines"].as_array().at(0)["components"].as_array())
    if (!component["component"].as_string().starts_with("reference-plugin"))
      archive = component["files"].as_array().at(0)["sha256"].as_string();
  ASSERT_EQ(archive.size(), 64u) << lock.dump(2);
  publish("1.0.0");  // with another archive
  EXPECT_EQ(version_of(open_locked()), "1.0.0");
  sh("sed -i 's/\"blocked\": \\[\\]/\"blocked\": [{\"sha256\": \"" + archive +
     "\", \"reason\": \"computes wrong sums\"}]/' repository/repository.json\n" +
     std::string(sign_and_publish));
  an_hour_passes();
  const Ended refused = open_locked();
  EXPECT_EQ(refused.code(), "EH-S45") << refused.said();
  EXPECT_THAT(evidence(refused.diagnosis(), "reason"), HasSubstr("computes wrong sums"));
}

TEST_F(LockFiles, OpenAnInstalledBuildThatIsNoLongerListed) {
  ASSERT_EQ(version_of(open_locked()), "1.0.0");
  publish("1.1.0");
  sh("python3 - <<'END'\n"
     "import json\n"
     "name = 'repository/engines/reference.json'\n"
     "document = json.load(open(name))\n"
     "document['builds'] = [one for one in document['builds'] if one['version'] != '1.0.0']\n"
     "json.dump(document, open(name, 'w'))\n"
     "END\n" +
     std::string(sign_and_publish));
  an_hour_passes();
  EXPECT_EQ(version_of(open_locked()), "1.0.0");
  empty_the_cache();
  const Ended refused = open_locked();
  EXPECT_EQ(refused.code(), "EH-S46") << refused.said();
  EXPECT_FALSE(evidence(refused.diagnosis(), "component").empty());
}

TEST_F(LockFiles, LockWhatARollbackHolds) {
  ASSERT_EQ(version_of(open()), "1.0.0");
  publish("1.1.0");
  ASSERT_EQ(cache({"update", "--install", "reference"}).status, 0);
  ASSERT_EQ(cache({"rollback", "reference"}).status, 0);
  const Ended locked = lock({"reference"});
  EXPECT_EQ(locked.document["locked"].as_array().at(0)["version"].as_string(), "1.0.0") << locked.said();
}

TEST_F(LockFiles, ContradictARequestForAnotherVersion) {
  publish("1.1.0");
  const Ended refused = open_locked("reference@1.1");
  EXPECT_EQ(refused.code(), "EH-S42") << refused.said();
  EXPECT_EQ(evidence(refused.diagnosis(), "asked"), "version 1.1");
  EXPECT_EQ(evidence(refused.diagnosis(), "locked"), "1.0.0 cpu");
  sh(evidence(refused.diagnosis(), "command"));
  EXPECT_EQ(version_of(open_locked("reference@1.1")), "1.1.0") << "the remedy works";
  RunOptions forced;
  forced.environment = {"ENGINEHOST_FORCE=reference-1.0.0-cpu-linux-x86_64"};
  EXPECT_EQ(open_locked("reference", forced).code(), "EH-S42");
}

TEST_F(LockFiles, SurviveAKilledCommand) {
  publish("1.1.0");
  const std::string before = read_text(file_);
  int killed = 0;
  for (int milliseconds = 10; milliseconds <= 200; milliseconds += 10) {
    write_text(file_, before);
    RunOptions options;
    options.launcher = {"timeout", "-s", "KILL", std::to_string(milliseconds / 1000.0)};
    options.may_crash = true;
    killed += lock({"reference"}, options).status != 0 ? 1 : 0;
    const std::vector<std::string> entries = entries_of(file_);
    ASSERT_EQ(entries.size(), 1u);
    if (entries.front().ends_with(" 1.0.0")) EXPECT_EQ(read_text(file_), before);
  }
  EXPECT_GT(killed, 0);
}

// A lock over a repository in a folder, which has two versions for each of two systems.
class LockFilesOfTwoSystems : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* version : {"1.0.0", "1.1.0"})
      for (const char* arch : {"x86_64", "aarch64"}) {
        TestBuild build = good_build(std::string("reference-") + version + "-" + arch);
        build.version = version;
        build.arch = arch;
        repository_.add(build);
      }
    repository_.write();
  }
  Ended cache(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--repository", repository_.root().native(), "--json"});
    return user_.run("engine-cache", std::move(arguments));
  }
  Ended lock(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "lock");
    arguments.insert(arguments.end(), {"-o", file_.native()});
    return cache(std::move(arguments));
  }
  Ended open(const std::string& engine = "reference") {
    return user_.info(
        {engine, "--repository", repository_.root().native(), "--lock", file_.native(), "--json"});
  }

  Workplace user_;
  TemporaryFolder folder_;
  TestRepository repository_{folder_ / "repository"};
  const std::filesystem::path file_ = folder_ / "enginehost.lock";
};

TEST_F(LockFilesOfTwoSystems, KeepOtherEntriesAndUnknownMembers) {
  ASSERT_EQ(lock({"reference@1.0", "--platform", "linux-aarch64"}).status, 0);
  EXPECT_EQ(entries_of(file_), std::vector<std::string>{"linux-aarch64 1.0.0"}) << "not this machine";
  Json document = *parse_json(read_text(file_), "lock");
  document.set("note", "of the team")
      .set("engines",
           Json::array().push(Json(document["engines"].as_array().at(0)).set("note", "tested on the board")));
  write_text(file_, document.dump(2));
  ASSERT_EQ(lock({"reference@1.0", "reference@1.1"}).status, 0);
  EXPECT_EQ(entries_of(file_),
            (std::vector<std::string>{"linux-aarch64 1.0.0", "linux-x86_64 1.0.0", "linux-x86_64 1.1.0"}))
      << "two versions of one engine";
  EXPECT_EQ(version_of(open()), "1.1.0");
  EXPECT_EQ(version_of(open("reference@1.0")), "1.0.0");
  const Ended relocked = lock({"reference@1.0", "--platform", "linux-aarch64", "--platform", "linux-x86_64"});
  EXPECT_EQ(relocked.document["replaced"].as_array().size(), 1u) << relocked.said();
  EXPECT_EQ(entries_of(file_), (std::vector<std::string>{"linux-aarch64 1.0.0", "linux-x86_64 1.0.0"}));
  document = *parse_json(read_text(file_), "lock");
  EXPECT_EQ(document["note"].as_string(), "of the team");
  EXPECT_EQ(document["engines"].as_array().at(0)["note"].as_string(), "tested on the board");
  EXPECT_EQ(version_of(open()), "1.0.0");
}

TEST_F(LockFilesOfTwoSystems, ServeARecordedMachine) {
  ASSERT_EQ(lock({"reference@1.1"}).status, 0);
  const std::string board = folder_ / "board.json";
  const Ended recorded = user_.info({"--platform-json"});
  write_text(board, replaced(recorded.output, "x86_64", "aarch64"));
  const std::vector<std::string> fetch = {"fetch", "reference", "--platform",
                                          board,   "--lock",    file_.native()};
  Ended fetched = cache(fetch);
  EXPECT_EQ(fetched.code(), "EH-S40") << fetched.said();
  EXPECT_EQ(evidence(fetched.diagnosis(), "locked"), "reference (linux-x86_64)");
  EXPECT_THAT(fetched.said(), HasSubstr("engine-cache lock"));
  ASSERT_EQ(lock({"reference@1.0", "--platform", board}).status, 0);
  fetched = cache(fetch);
  EXPECT_EQ(fetched.document["fetched"].as_array().at(0)["build"].as_string(), "reference-1.0.0-aarch64")
      << fetched.said();
}

TEST_F(LockFilesOfTwoSystems, SayWhatTheyHave) {
  ASSERT_EQ(lock({"reference"}).status, 0);
  const Ended screen = user_.info({"--repository", repository_.root().native(), "--lock", file_.native()});
  EXPECT_THAT(screen.output, HasSubstr("reference")) << "an engine without an entry has a row";
  EXPECT_THAT(screen.output, Not(HasSubstr("has no entry")));
  const Ended refused = open("referense");
  EXPECT_EQ(refused.code(), "EH-S40") << refused.said();
  EXPECT_EQ(evidence(refused.diagnosis(), "nearest"), "reference");
  EXPECT_EQ(evidence(refused.diagnosis(), "platform"), "linux-x86_64");
  const Ended unknown = lock({"reference", "--platform", "linux-x86-64"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.said(), HasSubstr("did you mean linux-x86_64?"));
}

TEST_F(LockFilesOfTwoSystems, WithMistakesAreNeitherUsedNorReplaced) {
  ASSERT_EQ(lock({"reference@1.0"}).status, 0);
  const std::string good = read_text(file_);
  const auto refuse = [&](const std::string& text, const char* code, const char* place, const char* said) {
    write_text(file_, text);
    for (const Ended& ended : {open(), lock({"reference"})}) {
      EXPECT_EQ(ended.code(), code) << ended.said();
      EXPECT_EQ(ended.status, 2);
      const Json& diagnosis = ended.diagnosis();
      EXPECT_EQ(evidence(diagnosis, "line") + ":" + evidence(diagnosis, "column"), place) << ended.said();
      EXPECT_THAT(diagnosis["cause"].as_string(), HasSubstr(said));
    }
    EXPECT_EQ(read_text(file_), text);
  };
  refuse("no lock at all\n", "EH-S44", "1:2", "line 1, column 2: syntax error");
  refuse("{\n  \"format\": 1,\n}\n", "EH-S44", "3:1", "line 3, column 1: syntax error");
  refuse("{\"name\": \"a package\"}", "EH-S44", "1:1", "format: it is missing");
  refuse(replaced(good, "\"platform\"", "\"platfrom\""), "EH-S44", "5:7", "is \"platform\"");
  refuse(replaced(good, "\"format\": 1", "\"format\": \"1\""), "EH-S44", "2:3", "it is string");
  refuse(replaced(good, "\"format\": 1", "\"format\": 1, \"critical\": \"seal\""), "EH-S44", "2:16",
         "a list is needed");
  refuse(replaced(good, "\"format\": 1", "\"format\": 1, \"critical\": [1]"), "EH-S44", "2:29", "a text");
  refuse(replaced(good, "\"sha256\": \"", "\"sha256\": \"x"), "EH-S44", "15:15", "no SHA-256");
  refuse(replaced(good, "\"format\": 1", "\"format\": 2"), "EH-S43", ":", "has format 2");
  refuse(replaced(replaced(good, "\"format\": 1", "\"format\": 2"), "\"engines\"", "\"engine\""), "EH-S43",
         ":", "has format 2");  // whatever its members are called
  refuse(replaced(good, "\"format\": 1", "\"format\": 0"), "EH-S44", "2:3", "it is not 1");
  refuse(replaced(good, "\"format\": 1", "\"format\": 1, \"critical\": [\"seal\"]"), "EH-S43", ":",
         "marks seal as critical");
  write_text(file_, replaced(good, "\"format\": 1", "\"format\": 1, \"critical\": [\"files\"], \"seal\": 7"));
  EXPECT_EQ(version_of(open()), "1.0.0") << "known critical members, and unknown others";
}

TEST(LockOfEngineHostsOwnRepository, IsWrittenForOtherSystemsToo) {
  const Workplace user;
  user.configure(Json::object());
  const std::string file = user.folder() / "enginehost.lock";
  for (const char* system : {"linux-aarch64", "windows-x86_64", "macos-arm64"}) {
    const Ended locked =
        user.run("engine-cache", {"lock", "onnxruntime", "-o", file, "--platform", system, "--json"});
    ASSERT_EQ(locked.status, 0) << locked.said();
    const Json& row = locked.document["locked"].as_array().at(0);
    EXPECT_EQ(row["platform"].as_string(), system);
    EXPECT_EQ(row["flavor"].as_string(), "cpu") << "nobody said that it has a GPU";
  }
  EXPECT_EQ(entries_of(file).size(), 3u);
  EXPECT_THAT(read_text(file), HasSubstr("\"version\": \"" ENGINEHOST_VERSION "\""));
}

TEST(LockOfEngineHostsOwnRepository, HoldsThePluginByVersionAndAbi) {
  const Workplace user;
  user.configure(Json::object());
  const std::string file = user.folder() / "enginehost.lock";
  const auto open = [&] { return user.info({"reference", "--lock", file, "--json"}); };
  const Ended locked = user.run("engine-cache", {"lock", "reference", "-o", file});
  ASSERT_EQ(locked.status, 0) << locked.said();
  const std::string text = read_text(file);
  EXPECT_THAT(text, HasSubstr("\"version\": \"" ENGINEHOST_VERSION "\"")) << text;
  EXPECT_THAT(text, Not(HasSubstr("sha256")));
  EXPECT_EQ(open().status, 0) << open().said();
  write_text(file, replaced(text, "\"" ENGINEHOST_VERSION "\"\n", "\"0.0.1\"\n"));
  const Ended refused = open();
  EXPECT_EQ(refused.code(), "EH-S41") << refused.said();
  EXPECT_EQ(evidence(refused.diagnosis(), "want"), "version 0.0.1");
  EXPECT_EQ(evidence(refused.diagnosis(), "have"), "version " ENGINEHOST_VERSION);
}

}  // namespace
}  // namespace enginehost::test
