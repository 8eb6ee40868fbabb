// A publisher who is trusted for one engine attacks the builds of another, with real commands and servers.
#include <gmock/gmock.h>

#include "tests/end-to-end/publisher.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The genuine repository of the engine reference, and a stranger's of the engine toy whose build has the same
// id.
class TwoEngines : public Publisher {
 protected:
  void SetUp() override {
    Publisher::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    sh("engine-manifest init repository --name Engines\n"
       "engine-manifest add repository toy --engine reference --version 1.0.0 --flavor cpu --plugin "
       "libengine_toy.so\n"
       "minisign -G -W -p key.pub -s key.key\n"
       "engine-manifest sign repository --key key.key\n"
       "engine-manifest publish repository /srv/www/engines\n"
       "minisign -G -W -p toys.pub -s toys.key\n"
       "engine-manifest init toys --name Toys\n"
       "engine-manifest add toys toy --engine toy --version 1.0.0 --flavor cpu --plugin libengine_toy.so "
       "--id " +
       id + "\nengine-manifest sign toys --key toys.key\nengine-manifest publish toys /srv/www/toys");
    user_.configure(Json::object().set("repositories_default", false));
  }
  std::string toys() const { return server_.url("toys"); }
  static void trust(const Workplace& user, const std::string& key, const std::string& place,
                    const std::string& engines) {
    std::vector<std::string> arguments = {"trust", "add", key};
    if (!place.empty()) arguments.insert(arguments.end(), {"--repository", place});
    if (!engines.empty()) arguments.insert(arguments.end(), {"--engines", engines});
    ASSERT_EQ(user.run("engine-cache", arguments).status, 0);
  }
  void trust_both(const Workplace& user) const {
    trust(user, publisher_ / "key.pub", location(), "");
    trust(user, publisher_ / "toys.pub", toys(), "toy");
  }
  Ended cache(std::vector<std::string> arguments) const {
    return user_.run("engine-cache", std::move(arguments));
  }
  Ended fetch_reference() const { return cache({"fetch", "reference", "--repository", location()}); }
  Ended fetch_toy() const { return cache({"fetch", "toy", "--repository", toys(), "--json"}); }
  Ended reference_offline() const { return user_.info({"reference", "--offline", "--json"}); }

  const std::string id = std::string("reference-1.0.0-cpu-linux-") + architecture, toy = "toy+" + id;
};

TEST_F(TwoEngines, AFetchedBuildDisplacesNone) {
  trust_both(user_);
  ASSERT_EQ(fetch_reference().status, 0);
  const Ended fetched = fetch_toy();
  ASSERT_EQ(fetched.status, 0) << fetched.said();
  EXPECT_EQ(fetched.document["fetched"].as_array().at(0)["build"].as_string(), toy);
  EXPECT_EQ(reference_offline().status, 0);
  EXPECT_EQ(fetch_toy().document["fetched"].as_array().at(0)["downloaded"].as_integer(), 0)
      << "it is found again";
  EXPECT_THAT(cache({"list"}).output, AllOf(HasSubstr(toy), HasSubstr("2 builds")));
  EXPECT_EQ(cache({"verify", "--deep"}).status, 0);
}

TEST_F(TwoEngines, TheStrangersBuildMayComeFirst) {
  trust_both(user_);
  ASSERT_EQ(fetch_toy().status, 0);
  ASSERT_EQ(fetch_reference().status, 0);
  const Ended opened = reference_offline();
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["build"].as_string(), "reference+" + id);
  EXPECT_EQ(fetch_toy().document["fetched"].as_array().at(0)["downloaded"].as_integer(), 0);
  ASSERT_EQ(cache({"remove", toy}).status, 0);
  EXPECT_EQ(reference_offline().status, 0);
}

TEST_F(TwoEngines, CommandsAskWhichOneIsMeant) {
  trust_both(user_);
  ASSERT_EQ(fetch_reference().status, 0);
  ASSERT_EQ(fetch_toy().status, 0);
  for (const char* command : {"remove", "pin", "unpin", "verify"}) {
    const Ended asked = cache({command, id});
    EXPECT_EQ(asked.status, 2) << command;
    EXPECT_THAT(asked.said(), AllOf(HasSubstr("reference+" + id), HasSubstr(toy))) << command;
  }
  EXPECT_EQ(cache({"pin", toy}).status, 0);
  EXPECT_EQ(cache({"verify", "reference+" + id}).status, 0);
  EXPECT_EQ(cache({"quarantine", "disable", toy}).status, 0);
  EXPECT_EQ(reference_offline().status, 0) << "only the other one is disabled";
  EXPECT_EQ(cache({"gc", "--max-size", "0"}).status, 0);
  EXPECT_THAT(cache({"list"}).output, AllOf(HasSubstr(toy), HasSubstr("1 build,")));
  EXPECT_EQ(cache({"remove", id}).status, 0) << "now only one has it";
}

TEST_F(TwoEngines, ABundleOfALimitedKeyDisplacesNone) {
  const Workplace stranger, admin;
  for (const Workplace* one : {&stranger, &admin}) {
    one->configure(Json::object().set("repositories_default", false));
    trust_both(*one);
  }
  const std::string bundle = publisher_ / "toys.bundle";
  ASSERT_EQ(stranger.run("engine-cache", {"fetch", "toy", "--repository", toys()}).status, 0);
  const Ended exported = stranger.run(
      "engine-cache", {"export", bundle, id, "--repository", toys(), "--redistribute", "unknown"});
  ASSERT_EQ(exported.status, 0) << exported.said();
  ASSERT_EQ(admin.run("engine-cache", {"fetch", "reference", "--repository", location()}).status, 0);
  const Ended imported = admin.run("engine-cache", {"import", bundle, "--json"});
  ASSERT_EQ(imported.status, 0) << imported.said();
  EXPECT_EQ(imported.document["builds"].as_array().at(0)["build"].as_string(), toy);
  EXPECT_EQ(imported.document["builds"].as_array().at(0)["signed_by"].as_array().size(), 1u);
  EXPECT_EQ(admin.info({"reference", "--offline", "--json"}).status, 0);
}

// For everybody: an administrator imports the stranger's bundle into the layer that has the genuine build.
TEST_F(TwoEngines, ABundleForTheSystemLayerRemovesNothing) {
  const Workplace stranger, admin;
  const std::string layer = admin.folder() / "layer", bundle = publisher_ / "toys.bundle";
  stranger.configure(Json::object().set("repositories_default", false));
  admin.configure(
      Json::object().set("repositories_default", false).set("system_layers", Json::array().push(layer)));
  trust_both(stranger);
  trust_both(admin);
  ASSERT_EQ(stranger.run("engine-cache", {"fetch", "toy", "--repository", toys()}).status, 0);
  ASSERT_EQ(
      stranger
          .run("engine-cache", {"export", bundle, id, "--repository", toys(), "--redistribute", "unknown"})
          .status,
      0);
  ASSERT_EQ(admin
                .run("engine-cache",
                     {"trust", "add", publisher_ / "key.pub", "--repository", location(), "--cache", layer})
                .status,
            0);
  ASSERT_EQ(
      admin.run("engine-cache", {"fetch", "reference", "--repository", location(), "--cache", layer}).status,
      0);
  const Ended imported = admin.run("engine-cache", {"import", bundle, "--layer", "system", "--json"});
  ASSERT_EQ(imported.status, 0) << imported.said();
  EXPECT_EQ(imported.document["builds"].as_array().at(0)["build"].as_string(), toy);
  const Ended opened = admin.info({"reference", "--offline", "--json"});
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["build"].as_string(), id);
  EXPECT_EQ(admin.run("engine-cache", {"verify", "--deep"}).status, 0);
}

// A failure of the stranger's build is no failure of the genuine one, also when that one is removed
// meanwhile.
TEST_F(TwoEngines, AQuarantineStaysThatOfItsEngine) {
  trust_both(user_);
  ASSERT_EQ(fetch_reference().status, 0);
  ASSERT_EQ(cache({"quarantine", "disable", id}).status, 0);
  ASSERT_EQ(cache({"remove", id}).status, 0);
  ASSERT_EQ(fetch_toy().document["fetched"].as_array().at(0)["build"].as_string(), toy)
      << "the id stays that of the disabled build";
  user_.info({"toy", "--repository", toys(), "--json"});
  EXPECT_EQ(cache({"fetch", "reference", "--repository", location(), "--json"}).code(), "EH-S14")
      << "it is still disabled";
  ASSERT_EQ(cache({"quarantine", "enable", id}).status, 0);
  ASSERT_EQ(fetch_reference().status, 0);
  EXPECT_EQ(reference_offline().status, 0);
}

TEST_F(TwoEngines, ABlockOfALimitedRepositoryStopsNoOtherEngine) {
  sh("for digest in $(grep -ohE '\"(sha256|tree|digest)\": *\"[0-9a-f]{64}\"' "
     "repository/engines/reference.json | "
     "grep -oE '[0-9a-f]{64}' | sort -u); do\n"
     "  sed -i \"s/\\\"blocked\\\": \\[/&{\\\"sha256\\\": \\\"$digest\\\", \\\"reason\\\": "
     "\\\"spite\\\"},/\" "
     "toys/repository.json\n"
     "done\n"
     "sed -i 's/},\\]/}]/' toys/repository.json\n"
     "engine-manifest sign toys --key toys.key\n"
     "engine-manifest publish toys /srv/www/toys");
  ASSERT_THAT(read_text(server_.root() / "toys/index.json"), HasSubstr("spite"));
  trust_both(user_);
  // Configured for its engine, or by a limited key alone.
  for (const bool limited : {true, false}) {
    Json theirs = Json::object().set("location", toys());
    if (limited) theirs.set("engines", Json::array().push("toy"));
    user_.configure(Json::object()
                        .set("repositories_default", false)
                        .set("repositories", Json::array().push(location()).push(std::move(theirs))));
    const Ended opened = user_.info({"reference", "--refresh", "--json"});
    EXPECT_EQ(opened.status, 0) << opened.said();
  }
  const Ended stopped = user_.info({"toy", "--json"});
  EXPECT_NE(stopped.status, 0);
  EXPECT_THAT(stopped.said(), HasSubstr("spite")) << "its own build has the same files";
  user_.configure(Json::object().set("repositories_default", false));
  EXPECT_EQ(reference_offline().status, 0) << "a block that was read once";
}

TEST_F(TwoEngines, AKeyOfSomeEnginesTakesNoOtherPlace) {
  trust(user_, publisher_ / "key.pub", location(), "");
  trust(user_, publisher_ / "toys.pub", "", "toy");
  sh("for i in 1 2 3; do\n"
     "  minisign -G -W -p extra$i.pub -s extra$i.key\n"
     "  engine-manifest sign toys --key toys.key --add-index-key extra$i.pub\n"
     "done\n"
     "mv /srv/www/engines /srv/www/genuine\n"
     "engine-manifest publish toys /srv/www/engines");
  const auto place = [&](const std::string& name) {
    return user_.info({name, "--repository", location(), "--refresh", "--json"});
  };
  const Workplace stranger;
  stranger.configure(Json::object().set("repositories_default", false));
  trust(stranger, publisher_ / "toys.pub", "", "");
  const std::string bundle = publisher_ / "toys.bundle";
  ASSERT_EQ(stranger.run("engine-cache", {"fetch", "toy", "--repository", location()}).status, 0);
  ASSERT_EQ(stranger
                .run("engine-cache",
                     {"export", bundle, id, "--repository", location(), "--redistribute", "unknown"})
                .status,
            0);
  EXPECT_EQ(cache({"import", bundle, "--json"}).code(), "EH-M10") << "by a bundle";
  EXPECT_EQ(place("toy").code(), "EH-M10") << "at first contact";
  sh("mv /srv/www/engines /srv/www/theirs; mv /srv/www/genuine /srv/www/engines");
  EXPECT_EQ(place("reference").status, 0);
  sh("mv /srv/www/engines /srv/www/genuine; mv /srv/www/theirs /srv/www/engines");
  EXPECT_NE(place("toy").status, 0) << "after first contact";
  sh("mv /srv/www/engines /srv/www/theirs; mv /srv/www/genuine /srv/www/engines");
  EXPECT_EQ(place("reference").status, 0);
}

}  // namespace
}  // namespace enginehost::test
