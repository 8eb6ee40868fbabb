// Signed documents that have expired, that older ones replaced, or that revoke something: what the commands
// report, and what still works.
#include <gmock/gmock.h>

#include "tests/end-to-end/publisher.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const std::string first_build = "reference-1.0.0-cpu-linux-x86_64";
const std::string second_build = "reference-1.0.1-cpu-linux-x86_64";

class OldDocuments : public Publisher {
 protected:
  fs::path engines() const { return server_.root() / "engines"; }
  // Edits a published document with sed and signs it with minisign as of that second.
  void sign_again(const std::string& role, const std::string& sed, int version, const std::string& time) {
    const std::string name = role + ".json";
    sh("id=$(printf %016X 0x$(sed -n '1s/.*key //p' key.pub))\n"
       "sed -i '" +
       sed + "' /srv/www/engines/" + name +
       "\n"
       "minisign -S -s key.key -m /srv/www/engines/" +
       name + " -t 'role:" + role + " version:" + std::to_string(version) + " ts:" + time +
       "' -x /srv/www/engines/" + name + ".$id.minisig");
    an_hour_passes();
  }
  // Expires half a second before 2020, with an index of then.
  void let_the_index_expire(int serial) {
    sign_again("index",
               R"(s/"serial": [0-9]*/"serial": )" + std::to_string(serial) +
                   R"(/; s/"expires": "[^"]*"/"expires": "2020-01-01T00:00:00Z"/)",
               serial, "1577836799");
  }
  void publish_another(const std::string& version = "1.0.1") {
    sh("engine-manifest add repository toy --engine reference --version " + version +
       " --flavor cpu --plugin libengine_toy.so\n"
       "engine-manifest sign repository --key key.key\n"
       "engine-manifest publish repository /srv/www/engines");
    an_hour_passes();
  }
  static std::string remedies(const Json& diagnosis) { return diagnosis["remedy"].dump(); }
};

TEST_F(OldDocuments, AnExpiredIndexIsReportedWithDateClockAndRemedy) {
  publish_signed();
  let_the_index_expire(2);
  const Ended refused = open();
  EXPECT_EQ(refused.status, 4) << refused.said();
  EXPECT_EQ(refused.code(), "EH-M12");
  EXPECT_EQ(evidence(refused.diagnosis(), "expired"), "2020-01-01T00:00:00Z");
  EXPECT_THAT(evidence(refused.diagnosis(), "clock"), testing::MatchesRegex("20[0-9-]+T[0-9:]+Z"));
  EXPECT_THAT(refused.diagnosis()["cause"].as_string(),
              AllOf(HasSubstr("2020-01-01T00:00:00Z"), HasSubstr("this machine's clock shows 20")));
  EXPECT_THAT(remedies(refused.diagnosis()),
              AllOf(HasSubstr("clock"), HasSubstr("engine-manifest sign"), HasSubstr("max_staleness_days")));
  EXPECT_EQ(refused.candidate(first_build)["verdict"].as_string(), "unavailable");
  EXPECT_EQ(server_.requests("GET /engines/files/"), 0);
  const Ended fetched = user_.run("engine-cache", {"fetch", "reference", "--json"});
  EXPECT_EQ(fetched.status, 4) << fetched.said();
  EXPECT_EQ(fetched.code(), "EH-M12");
  const Ended text = user_.info({"reference"});
  EXPECT_EQ(text.status, 4);
  EXPECT_THAT(text.output + text.error, HasSubstr("2020-01-01T00:00:00Z"));
}

TEST_F(OldDocuments, InstalledBuildsOpenUnderAnExpiredIndex) {
  publish_signed();
  ASSERT_EQ(open().status, 0);
  publish_another();
  let_the_index_expire(3);
  const Ended opened = open();
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["build"].as_string(), first_build);
  EXPECT_EQ(opened.candidate(second_build)["verdict"].as_string(), "unavailable");
  EXPECT_EQ(opened.candidate(second_build)["diagnosis"]["code"].as_string(), "EH-M12");
  EXPECT_THAT(opened.document["warnings"].dump(),
              AllOf(HasSubstr("expired at 2020-01-01T00:00:00Z"), HasSubstr("nothing new is installed")));
  const Ended text = user_.info({});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.output + text.error,
              AllOf(HasSubstr("expired at 2020-01-01T00:00:00Z"), HasSubstr("this machine's clock")));
  const Ended demanded = user_.info({"reference@1.0.1", "--json"});
  EXPECT_EQ(demanded.status, 4) << demanded.said();
  EXPECT_EQ(demanded.code(), "EH-M12");
}

TEST_F(OldDocuments, AnExpiredRootIsReportedLikeAnExpiredIndex) {
  publish_signed();
  sign_again("root",
             R"(s/"version": 1/"version": 2/; s/"expires": "[^"]*"/"expires": "2019-06-01T00:00:00Z"/)", 2,
             "1577836799");
  const Ended refused = open();
  EXPECT_EQ(refused.status, 4) << refused.said();
  EXPECT_EQ(refused.code(), "EH-M12");
  EXPECT_EQ(evidence(refused.diagnosis(), "expired"), "2019-06-01T00:00:00Z");
}

TEST_F(OldDocuments, AClockFarBehindTheSignatureIsReported) {
  publish_signed();
  // A signature of 2099 proves that it is at least 2099, whatever the clock says, so the root of this year
  // has expired.
  sign_again("index",
             R"(s/"serial": [0-9]*/"serial": 2/; s/"expires": "[^"]*"/"expires": "2100-01-01T00:00:00Z"/)", 2,
             "4070908800");
  const Ended refused = open();
  EXPECT_EQ(refused.code(), "EH-M12") << refused.said();
  EXPECT_THAT(refused.document["warnings"].dump(),
              AllOf(HasSubstr("this machine's clock says"), HasSubstr("was signed at 2099-01-01T00:00:00Z")));
  const Ended text = user_.info({});
  EXPECT_THAT(text.output + text.error,
              AllOf(HasSubstr("was signed at 2099-01-01T00:00:00Z"), HasSubstr("it is wrong")));
}

TEST_F(OldDocuments, OfflineAnExpiredIndexServesAsLongAsPolicyAllows) {
  if (!can_mount()) GTEST_SKIP() << "a policy needs a /etc of its own, and with it the right to mount";
  publish_signed();
  let_the_index_expire(2);
  // The same documents as a folder on a medium.
  user_.configure(Json::object()
                      .set("repositories_default", false)
                      .set("repositories", Json::array().push(engines().native())));
  RunOptions strict;
  strict.launcher =
      with_system_file(user_, Json::object().set("policy", Json::object().set("max_staleness_days", 7)));
  const Ended refused = user_.info({"reference", "--offline", "--json"}, strict);
  EXPECT_EQ(refused.status, 4) << refused.said();
  EXPECT_EQ(refused.code(), "EH-M12");
  EXPECT_THAT(refused.document["warnings"].dump(), HasSubstr("policy.max_staleness_days = 7"));
  const Ended opened = user_.info({"reference", "--offline", "--json"});
  EXPECT_EQ(opened.status, 0) << opened.said();
  EXPECT_THAT(opened.document["warnings"].dump(), HasSubstr("no network to ask for a newer one"));
}

TEST_F(OldDocuments, AReplayedIndexIsRefusedAfterItsKeyIsTrustedAgain) {
  publish_signed();
  fs::copy(engines(), publisher_ / "before", fs::copy_options::recursive);
  publish_another();
  ASSERT_EQ(open().outcome()["build"].as_string(), second_build);
  fs::remove_all(engines());
  fs::copy(publisher_ / "before", engines(), fs::copy_options::recursive);
  an_hour_passes();
  const auto expect_refused = [&](const std::vector<std::string>& arguments) {
    const Ended run = user_.run("engine-cache", arguments);
    EXPECT_EQ(run.status, 5) << run.said();
    EXPECT_EQ(run.code(), "EH-M11");
    EXPECT_EQ(evidence(run.diagnosis(), "found"), "1");
    EXPECT_EQ(evidence(run.diagnosis(), "expected"), "2");
  };
  ASSERT_EQ(user_.run("engine-cache", {"remove", second_build}).status, 0);
  expect_refused({"fetch", "reference", "--json"});
  sh("engine-cache trust remove $(sed -n '1s/.*key //p' key.pub)\n"
     "engine-cache trust add key.pub");
  an_hour_passes();
  expect_refused({"fetch", "reference", "--json"});
  // The publisher's remedy.
  publish_another("1.0.2");
  EXPECT_EQ(open().outcome()["build"].as_string(), "reference-1.0.2-cpu-linux-x86_64");
}

TEST_F(OldDocuments, ABlockedBuildIsNeitherOpenedFetchedNorImported) {
  publish_signed();
  ASSERT_EQ(open().status, 0);
  const auto export_to = [&](const char* name) {
    const std::string bundle = (publisher_ / name).native();
    EXPECT_EQ(user_.run("engine-cache", {"export", bundle, first_build, "--redistribute", "unknown"}).status,
              0);
    return bundle;
  };
  const std::string bundle = export_to("documents.bundle");
  // Where the repository is neither named nor to be read, a bundle has no documents.
  user_.configure(Json::object().set("repositories_default", false));
  an_hour_passes();
  std::filesystem::rename(server_.root() / "engines", server_.root() / "away");
  const std::string without_documents = export_to("plain.bundle");
  std::filesystem::rename(server_.root() / "away", server_.root() / "engines");
  configure();
  sh(R"sh(
    digest=$(grep -o '"sha256": "[0-9a-f]*' repository/engines/reference.json | head -1 | cut -d'"' -f4)
    entry="{\"sha256\": \"$digest\", \"reason\": \"computes wrong sums\"}"
    sed -i "s/\"blocked\": \[\]/\"blocked\": [$entry]/" repository/repository.json
    engine-manifest sign repository --key key.key
    engine-manifest publish repository /srv/www/engines)sh");
  an_hour_passes();
  const auto expect_blocked = [](const Ended& run) {
    EXPECT_EQ(run.status, 3) << run.said();
    EXPECT_EQ(evidence(run.diagnosis(), "first_code"), "EH-M14") << run.said();
    EXPECT_THAT(evidence(run.diagnosis(), "reason"), HasSubstr("computes wrong sums"));
  };
  const Ended refused = open();
  expect_blocked(refused);
  EXPECT_EQ(refused.candidate(first_build)["diagnosis"]["code"].as_string(), "EH-M14");
  expect_blocked(user_.run("engine-cache", {"fetch", "reference", "--json"}));
  // Without a network the block is remembered, and an older bundle does not bring the build back.
  ASSERT_EQ(user_.run("engine-cache", {"remove", first_build}).status, 0);
  expect_blocked(user_.info({"reference", "--offline", "--json"}));
  EXPECT_EQ(user_.run("engine-cache", {"import", bundle, "--json"}).code(), "EH-M11") << "its index is older";
  const Ended plain = user_.run("engine-cache", {"import", without_documents, "--json"});
  EXPECT_EQ(plain.code(), "EH-M14") << plain.said();
  EXPECT_THAT(evidence(plain.diagnosis(), "reason"), HasSubstr("computes wrong sums"));
  const Ended again = user_.info({"reference", "--offline", "--json"});
  expect_blocked(again);
  EXPECT_EQ(again.candidate(first_build)["diagnosis"]["code"].as_string(), "EH-M14") << again.said();
}

TEST_F(OldDocuments, ARevokedKeysSignatureIsRefusedByName) {
  publish_signed();
  ASSERT_EQ(open().status, 0);
  sh("minisign -G -W -p next.pub -s next.key\n"
     "engine-manifest sign repository --key key.key --key next.key --add-key next.pub\n"
     "engine-manifest publish repository /srv/www/engines\n"
     "engine-manifest sign repository --key next.key --key key.key --revoke-key "
     "$(sed -n '1s/.*key //p' key.pub)\n"
     "engine-manifest publish repository /srv/www/engines");
  an_hour_passes();
  ASSERT_EQ(open().status, 0) << "the new root is signed by the old key, too: " << open().said();
  // The holder of the lost key signs another index.
  sh("rm /srv/www/engines/index.json.*.minisig");
  sign_again("index", R"(s/"serial": [0-9]*/"serial": 9/)", 9, "1795000000");
  for (const char* part : {"refs", "views", "trees"}) fs::remove_all(user_.cache() / part);
  const Ended refused = open();
  EXPECT_EQ(refused.status, 5) << refused.said();
  EXPECT_EQ(refused.code(), "EH-M13");
  EXPECT_FALSE(evidence(refused.diagnosis(), "key_id").empty());
}

}  // namespace
}  // namespace enginehost::test
