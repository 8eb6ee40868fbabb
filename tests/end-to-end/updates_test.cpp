// engine-cache update and rollback over a signed repository on a server that gets newer builds.
#include <gmock/gmock.h>

#include <csignal>
#include <thread>

#include "tests/end-to-end/publisher.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

class EngineUpdates : public Publisher {
 protected:
  void SetUp() override {
    Publisher::SetUp();
    if (IsSkipped()) return;
    publish_signed();
    ASSERT_EQ(version_of(open()), "1.0.0");
  }
  void publish(const std::string& version, const std::string& plugin = "libengine_toy.so") {
    sh("echo " + version + " > toy/share/words.txt\n" + add(version, plugin) + sign_and_publish);
  }
  static std::string add(const std::string& version, const std::string& plugin) {
    return "engine-manifest add repository toy --engine reference --version " + version +
           " --flavor cpu --plugin " + plugin + "\n";
  }
  Ended cache(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.push_back("--json");
    return user_.run("engine-cache", std::move(arguments), options);
  }
  static std::string version_of(const Ended& opened) {
    const std::string& build = opened.outcome()["build"].as_string();
    const std::size_t begin = build.find('-') + 1;
    return build.substr(begin, build.find('-', begin) - begin);
  }
  std::string opened() {
    an_hour_passes();
    return version_of(open());
  }
  static const Json& row(const Ended& update) { return update.document["engines"].as_array().at(0); }

  static constexpr const char* sign_and_publish =
      "engine-manifest sign repository --key key.key\nengine-manifest publish repository /srv/www/engines\n";
};

TEST_F(EngineUpdates, AreListedInstalledRolledBackAndHeld) {
  Ended update = cache({"update"});
  EXPECT_TRUE(row(update)["newer"].is_null()) << update.said();
  publish("1.1.0");
  update = cache({"update"});
  EXPECT_EQ(update.status, 0) << update.said();
  EXPECT_EQ(row(update)["used"]["version"].as_string(), "1.0.0")
      << "the server is asked although an hour has not passed";
  EXPECT_EQ(row(update)["newer"]["version"].as_string(), "1.1.0");
  EXPECT_EQ(opened(), "1.0.0") << "listing installs nothing";
  update = cache({"update", "--install"});
  EXPECT_TRUE(row(update)["installed"].as_bool()) << update.said();
  EXPECT_EQ(opened(), "1.1.0");
  EXPECT_EQ(cache({"list"}).document["builds"].as_array().size(), 2u) << "the older build stays";

  Ended back = cache({"rollback", "reference"});
  EXPECT_EQ(back.status, 0) << back.said();
  const Ended held = open();
  EXPECT_EQ(version_of(held), "1.0.0");
  EXPECT_TRUE(held.outcome()["last_update"]["rolled_back"].as_bool()) << held.said();
  EXPECT_EQ(held.outcome()["update"]["version"].as_string(), "1.1.0");
  publish("1.2.0");
  RunOptions eager;
  eager.environment = {"ENGINEHOST_UPDATE=open"};
  an_hour_passes();
  EXPECT_EQ(version_of(user_.info({"reference", "--json"}, eager)), "1.0.0")
      << "it holds against update: open";
  update = cache({"update", "--install"});
  EXPECT_FALSE(row(update)["installed"].as_bool()) << "nobody named the engine: " << update.said();
  EXPECT_TRUE(row(update)["held"].as_bool());
  EXPECT_EQ(opened(), "1.0.0");
  update = cache({"update", "--install", "reference"});
  EXPECT_EQ(row(update)["newer"]["version"].as_string(), "1.2.0") << update.said();
  EXPECT_EQ(opened(), "1.2.0");
  back = cache({"rollback", "reference"});
  EXPECT_EQ(opened(), "1.1.0") << "what was installed, before what was used: " << back.said();
}

TEST_F(EngineUpdates, EndARollbackWithoutADownload) {
  publish("1.1.0");
  cache({"update", "--install"});
  cache({"rollback", "reference"});
  EXPECT_EQ(opened(), "1.0.0");
  EXPECT_EQ(cache({"update", "--install", "reference"}).status, 0);
  EXPECT_EQ(opened(), "1.1.0");
}

TEST_F(EngineUpdates, ThatDoNotLoadLeaveTheOlderBuild) {
  // It ends the process that loads it.
  sh("gcc -shared -fPIC -o toy/lib/libtoy.so -x c - <<< "
     "$'#include <stdlib.h>\n__attribute__((constructor)) static void end(void) { abort(); }'\n"
     "patchelf --set-rpath '$ORIGIN/lib' --output libengine_toy2.so libengine_toy.so\n"
     "patchelf --add-needed libtoy.so libengine_toy2.so\n");
  publish("1.1.0", "libengine_toy2.so");
  const Ended update = cache({"update", "--install"});
  EXPECT_NE(update.status, 0);
  EXPECT_EQ(row(update)["diagnosis"]["code"].as_string(), "EH-R03") << update.said();
  EXPECT_EQ(opened(), "1.0.0");
  EXPECT_EQ(cache({"rollback", "reference"}).code(), "EH-S35") << "nothing was updated";
}

TEST_F(EngineUpdates, AreNotRolledBackToWhatMustNotBeUsed) {
  publish("1.1.0");
  cache({"update", "--install"});
  sh("sed -i '0,/\"priority\"/s//\"yanked\": \"computes wrong sums\", \"priority\"/' "
     "repository/engines/reference.json\n" +
     std::string(sign_and_publish));
  an_hour_passes();
  Ended back = cache({"rollback", "reference"});
  EXPECT_EQ(back.code(), "EH-S35");
  EXPECT_THAT(evidence(back.diagnosis(), "reason"), HasSubstr("computes wrong sums")) << back.said();
  EXPECT_EQ(opened(), "1.1.0");
}

TEST_F(EngineUpdates, AreNotRolledBackToWhatIsNoLongerInTheCache) {
  publish("1.1.0");
  cache({"update", "--install"});
  const Ended listed = cache({"list"});
  for (const Json& build : listed.document["builds"].as_array())
    if (build["version"].as_string() == "1.0.0") cache({"remove", build["build"].as_string()});
  const Ended back = cache({"rollback", "reference"});
  EXPECT_EQ(back.code(), "EH-S35") << back.said();
  EXPECT_FALSE(evidence(back.diagnosis(), "size").empty()) << back.said();
  sh(evidence(back.diagnosis(), "command"));
  EXPECT_EQ(cache({"rollback", "reference"}).status, 0);
  EXPECT_EQ(opened(), "1.0.0");
}

TEST_F(EngineUpdates, AreUnknownWhileTheServerDoesNotAnswer) {
  publish("1.1.0");
  RunOptions away;
  away.environment = {"http_proxy=http://127.0.0.1:9", "no_proxy="};
  const Ended update = cache({"update"}, away);
  EXPECT_EQ(update.status, 4) << update.said();
  EXPECT_EQ(row(update)["used"]["version"].as_string(), "1.0.0");
  EXPECT_EQ(row(update)["diagnosis"]["code"].as_string(), "EH-N19") << "not: it is the newest";
  EXPECT_EQ(row(cache({"update"}))["newer"]["version"].as_string(), "1.1.0");
}

TEST_F(EngineUpdates, FollowThePolicy) {
  if (!can_mount()) GTEST_SKIP() << "only root may show a system file";
  publish("1.1.0");
  const auto under = [&](const std::string& policy) {
    RunOptions options;
    options.launcher = with_system_file(user_, *parse_json("{\"policy\": " + policy + "}", "policy"));
    return options;
  };
  Ended update = cache({"update", "--install"}, under(R"({"updates": false})"));
  EXPECT_EQ(update.status, 8) << update.said();
  EXPECT_EQ(evidence(row(update)["diagnosis"], "policy"), "policy.updates = false");
  update = cache({"update", "--install"}, under(R"({"versions": {"reference": "<1.1"}})"));
  EXPECT_TRUE(row(update)["newer"].is_null()) << update.said();
  const Ended refused =
      user_.info({"reference@1.1.0", "--json"}, under(R"({"versions": {"reference": "<1.1"}})"));
  EXPECT_EQ(refused.candidate("reference-1.1.0-cpu-linux-x86_64")["diagnosis"]["code"].as_string(), "EH-S34")
      << refused.said();
  EXPECT_EQ(opened(), "1.0.0");
}

TEST_F(EngineUpdates, OfTwoPeopleAtOnceGiveOneResult) {
  publish("1.1.0");
  std::vector<Ended> ended(2);
  std::thread other([&] { ended[0] = cache({"update", "--install"}); });
  ended[1] = cache({"update", "--install"});
  other.join();
  for (const Ended& one : ended) EXPECT_EQ(one.status, 0) << one.said();
  EXPECT_EQ(opened(), "1.1.0");
  EXPECT_EQ(cache({"rollback", "reference"}).status, 0);
  EXPECT_EQ(opened(), "1.0.0");
}

TEST(ListOfBuilds, SaysItsDateOnlyWhenItIsOld) {
  const Workplace user;
  const TemporaryFolder folder;
  TestRepository repository(folder.path());
  repository.add(good_build());
  repository.write();
  const std::filesystem::path index = folder / "index.json";
  const Json document = *parse_json(read_text(index), "index");
  const std::vector<std::string> screen = {"--repository", folder.path().native()};
  for (const auto& [created, is_old] :
       {std::pair{"2026-01-05T00:00:00Z", true}, {"2199-01-01T00:00:00Z", false}}) {
    write_text(index, Json(document).set("created", created).dump());
    const std::string said = user.info(screen).output;
    EXPECT_EQ(said.find("manifests of 2026-01-05") != std::string::npos, is_old) << said;
    std::vector<std::string> plan = {"reference", "--plan"};
    plan.insert(plan.end(), screen.begin(), screen.end());
    EXPECT_EQ(user.info(plan).output.find("manifests of 2026-01-05") != std::string::npos, is_old);
  }
}

}  // namespace
}  // namespace enginehost::test
