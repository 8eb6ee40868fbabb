// Attacks on a user, with real servers, real commands and a second user.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/paths.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// A folder in which somebody prepared Python modules and a gnuplot configuration.
TEST(CurrentFolder, ItsCodeDoesNotRun) {
  const Workplace workplace;
  const fs::path planted = workplace.folder() / "planted", trace = workplace.folder() / "ran";
  for (const char* module : {"pip/__init__.py", "pip/__main__.py", "json.py", "re.py", "sitecustomize.py"})
    write_text(planted / module, "open('" + trace.native() + "', 'a').write(__name__)\n");
  write_text(planted / ".gnuplot", "system 'touch " + trace.native() + "'\n");
  RunOptions there;
  there.launcher = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", planted.native()};
  there.environment = {"PIP_INDEX_URL=http://127.0.0.1:9/simple"};
  // Needs a package index, for which pip is asked.
  const Json source = Json::object().set(
      "package_index", Json::object().set("project", "engine").set("file", "engine-1.0-py3-none-any.whl"));
  const Json artifact = Json::object()
                            .set("sha256", std::string(64, 'a'))
                            .set("size", 100)
                            .set("archive", "zip")
                            .set("sources", Json::array().push(source));
  TestRepository repository(workplace.folder() / "repository");
  repository.add_with_artifacts(good_build(), Json::array().push(artifact));
  repository.write();
  const Ended run =
      workplace.info({"reference", "--repository", path_text(repository.root()), "--json"}, there);
  EXPECT_NE(run.status, 0) << run.said();
  EXPECT_FALSE(fs::exists(trace)) << read_text(trace);
}

// The user makes folders of the own cache lead to a folder that only root may enter.
class RootInAUsersCache : public testing::TestWithParam<const char*> {};

TEST_P(RootInAUsersCache, FollowsNoLinkOfThatUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be led astray";
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  ASSERT_EQ(
      workplace.run("engine-cache", {"fetch", "reference", "--repository", path_text(repository.root())})
          .status,
      0);
  const fs::path precious = workplace.folder() / "precious";
  write_text(precious / "db/file", "data");
  write_text(precious / "key", "secret");
  ASSERT_EQ(::chmod(precious.c_str(), 0700), 0);
  const fs::path cache = workplace.cache(), led = cache / GetParam();
  if (fs::exists(led)) fs::rename(led, led.native() + ".real");
  fs::create_directory_symlink(precious, led);
  for (auto at = fs::recursive_directory_iterator(cache); at != fs::recursive_directory_iterator(); ++at)
    ASSERT_EQ(::lchown(at->path().c_str(), 65534, 65534), 0);
  ASSERT_EQ(::lchown(cache.c_str(), 65534, 65534), 0);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"gc"},
        {"gc", "--max-size", "1"},
        {"remove", "reference-good"},
        {"verify", "--repair"},
        {"fetch", "reference", "--repository", path_text(repository.root())}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--cache", cache.native()});
    const Ended run = workplace.run("engine-cache", arguments);
    EXPECT_THAT(run.error, HasSubstr("belongs to user 65534: this command goes on as that user"))
        << run.said();
    EXPECT_EQ(read_text(precious / "db/file"), "data") << run.said();
    EXPECT_EQ(read_text(precious / "key"), "secret");
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(precious)) ++count;
    EXPECT_EQ(count, 2u) << "nothing was added: " << run.said();
  }
}

INSTANTIATE_TEST_SUITE_P(Each, RootInAUsersCache,
                         testing::Values("trees", "stage", "views", "partial", "rejected", "locks"));

// Native code of a server, signed by nobody.
TEST(UnsignedUrls, AreUsedOnlyOnRequestAndSayWhatThatMeans) {
  Served served;
  served.publish();
  const Workplace workplace;
  const Ended refused = workplace.info({"reference", "--repository", served.location(), "--json"});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.said(), HasSubstr("EH-M10"));
  EXPECT_THAT(refused.said(), HasSubstr("this time: --allow-unsigned"));
  EXPECT_EQ(served.server.requests("GET " + served.path()), 0);
  const Ended tried =
      workplace.info({"reference", "--repository", served.location(), "--allow-unsigned", "--json"});
  ASSERT_EQ(tried.status, 0) << tried.said();
  EXPECT_THAT(tried.document["warnings"].dump(), HasSubstr("decides which code runs here"));
  EXPECT_EQ(tried.outcome()["origin"]["only_for"].as_string(), served.location());
  EXPECT_EQ(tried.outcome()["origin"]["signed_by"].as_array().size(), 0u);
}

TEST(UnsignedUrls, ATrialServesOnlyRequestsThatNameTheUrl) {
  Served served;
  served.publish();
  const Workplace workplace;
  const std::vector<std::string> naming = {"reference", "--repository", served.location(), "--allow-unsigned",
                                           "--json"};
  ASSERT_EQ(workplace.info(naming).status, 0);
  const Ended other = workplace.info({"reference", "--json"});
  EXPECT_NE(other.status, 0) << other.said();
  EXPECT_THAT(workplace.run("engine-cache", {"list"}).output, HasSubstr("only for requests that name it"));
  EXPECT_EQ(workplace.info(naming).outcome()["download"]["bytes"].as_integer(), 0) << "it is still installed";
  // A person decides that it serves every program.
  ASSERT_EQ(workplace
                .run("engine-cache",
                     {"fetch", "reference", "--repository", served.location(), "--allow-unsigned", "--keep"})
                .status,
            0);
  EXPECT_EQ(workplace.info({"reference", "--json"}).status, 0);
  EXPECT_EQ(workplace.info(naming).status, 0);
  EXPECT_EQ(workplace.info({"reference", "--json"}).status, 0) << "a later trial narrows nothing";
}

TEST(UnsignedUrls, AConfiguredOneServesEveryRequest) {
  Served served;
  served.publish();
  const Workplace workplace;
  workplace.configure(
      Json::object()
          .set("repositories_default", false)
          .set("repositories",
               Json::array().push(Json::object().set("location", served.location()).set("unsigned", true))));
  ASSERT_EQ(workplace.info({"reference", "--json"}).status, 0);
  workplace.configure(Json::object().set("repositories_default", false));
  EXPECT_EQ(workplace.info({"reference", "--json"}).status, 0);
}

class Recalls : public Publisher {
 protected:
  // Blocks the published build, as docs/publishing.md does.
  void block() {
    sh("digest=$(sed -n 's/.*\"sha256\": \"\\(.*\\)\",/\\1/p' repository/engines/reference.json | head -1)\n"
       "sed -i \"s/\\\"blocked\\\": \\[\\]/\\\"blocked\\\": [{\\\"sha256\\\": \\\"$digest\\\", "
       "\\\"reason\\\": \\\"backdoor\\\"}]/\" "
       "repository/repository.json\n"
       "engine-manifest sign repository --key key.key\n"
       "engine-manifest publish repository /srv/www/engines");
  }
  // Requests that name no repository.
  Ended open_plainly(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"reference", "--json"});
    return user_.info(std::move(more));
  }
};

TEST_F(Recalls, ABlockThatWasReadHoldsWithoutItsRepository) {
  publish_signed();
  ASSERT_EQ(open().status, 0);
  block();
  const Ended named = user_.info({"reference", "--repository", location(), "--json"});
  EXPECT_THAT(named.said(), HasSubstr("EH-M14")) << "a repository that is named is asked at once";
  user_.configure(Json::object().set("repositories_default", false));
  const Ended plain = open_plainly();
  EXPECT_NE(plain.status, 0) << plain.said();
  EXPECT_THAT(plain.said(), HasSubstr("backdoor"));
}

TEST_F(Recalls, ReachAMachineThatNamesNoRepository) {
  publish_signed();
  ASSERT_EQ(open().status, 0);
  block();
  user_.configure(Json::object().set("repositories_default", false));
  const int asked = server_.requests("GET ");
  EXPECT_EQ(open_plainly().status, 0) << "nothing went online since";
  EXPECT_EQ(server_.requests("GET "), asked) << "an installed build waits for no server";
  const Ended refreshed = open_plainly({"--refresh"});
  EXPECT_NE(refreshed.status, 0) << refreshed.said();
  EXPECT_THAT(refreshed.said(), HasSubstr("backdoor"));
}

TEST_F(Recalls, ReachItWhenSomethingElseGoesOnline) {
  publish_signed();
  ASSERT_EQ(open().status, 0);
  block();
  an_hour_passes();
  Served other;
  other.publish();
  user_.configure(Json::object().set("repositories_default", false));
  user_.info({"anything", "--repository", other.location(), "--allow-unsigned", "--json"});
  EXPECT_THAT(open_plainly().said(), HasSubstr("backdoor"));
}

class Timestamps : public Recalls {
 protected:
  void SetUp() override {
    Recalls::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    publish_signed();
    sh("minisign -G -W -p stamp.pub -s stamp.key\n"
       "engine-manifest sign repository --key key.key --add-timestamp-key stamp.pub\n"
       "engine-manifest sign repository --key stamp.key\n"
       "engine-manifest publish repository /srv/www/engines");
  }
  // A scheduled job does this in the published folder.
  static constexpr const char* stamp =
      "engine-manifest sign /srv/www/engines --timestamp --key stamp.key --hours 1";
  Ended open_on_a_new_machine() const {
    const Workplace other;
    EXPECT_EQ(other.run("engine-cache", {"trust", "add", publisher_ / "key.pub"}).status, 0);
    return other.info({"reference", "--repository", location(), "--json"});
  }
};

// A server that keeps an old state of a repository is noticed when the timestamp expires.
TEST_F(Timestamps, AnExpiredOneLetsNothingNewBeInstalled) {
  ASSERT_EQ(open().status, 0) << open().said();
  EXPECT_GT(server_.requests("GET /engines/timestamp.json 200"), 0);
  sh(stamp);
  an_hour_passes();
  ASSERT_EQ(open().status, 0) << open().said();
  sh("cd /srv/www/engines && version=$(sed -n 's/.*\"version\": \\([0-9]*\\).*/\\1/p' timestamp.json)\n"
     "sed -i 's/\"expires\": \"[^\"]*\"/\"expires\": \"2020-01-01T00:00:00Z\"/' timestamp.json\n"
     "id=$(printf %016X 0x$(sed -n '1s/.*key //p' \"$OLDPWD/stamp.pub\"))\n"
     "minisign -S -s \"$OLDPWD/stamp.key\" -m timestamp.json -t \"role:timestamp version:$version "
     "ts:1577836700\" "
     "-x timestamp.json.$id.minisig");
  an_hour_passes();
  const Ended installed = open();
  EXPECT_EQ(installed.status, 0) << installed.said();
  EXPECT_THAT(installed.document["warnings"].dump(), HasSubstr("expired at 2020-01-01T00:00:00Z"));
  EXPECT_EQ(open_on_a_new_machine().code(), "EH-M12");
  fs::remove(server_.root() / "engines/timestamp.json");
  an_hour_passes();
  EXPECT_EQ(open().status, 0) << "it is installed";
  EXPECT_EQ(open_on_a_new_machine().code(), "EH-M08");
}

// The keeper's workspace has an older timestamp than the folder that a scheduled job signs, or none.
TEST_F(Timestamps, APublishWithoutItsKeyKeepsTheNewestOne) {
  const auto publish_next = [&](const std::string& version) {
    sh(stamp);
    an_hour_passes();
    ASSERT_EQ(open().status, 0) << version;
    const std::string stamped = read_text(server_.root() / "engines/timestamp.json");
    sh("engine-manifest add repository toy --engine reference --version " + version +
       " --flavor cpu --plugin libengine_toy.so\n"
       "engine-manifest sign repository --key key.key\n"
       "engine-manifest publish repository /srv/www/engines");
    EXPECT_EQ(read_text(server_.root() / "engines/timestamp.json"), stamped) << version;
    EXPECT_EQ(user_.info({"reference", "--repository", location(), "--json"}).status, 0) << version;
    EXPECT_EQ(open_on_a_new_machine().status, 0) << version;
  };
  publish_next("1.0.1");
  sh("rm repository/timestamp.json*");
  publish_next("1.0.2");
  block();
  EXPECT_THAT(open_plainly({"--refresh"}).said(), HasSubstr("backdoor"));
}

TEST_F(Timestamps, TheOneOfARevokedKeyIsReplacedByPublish) {
  sh(stamp);
  ASSERT_EQ(open().status, 0);
  sh("minisign -G -W -p next.pub -s next.key\n"
     "engine-manifest sign repository --key key.key --add-timestamp-key next.pub "
     "--revoke-key $(sed -n '1s/.*key //p' stamp.pub)\n"
     "engine-manifest sign repository --key next.key\n"
     "engine-manifest publish repository /srv/www/engines");
  EXPECT_EQ(read_text(server_.root() / "engines/timestamp.json"),
            read_text(publisher_ / "repository/timestamp.json"));
  EXPECT_EQ(user_.info({"reference", "--repository", location(), "--json"}).status, 0);
  EXPECT_EQ(open_on_a_new_machine().status, 0);
}

TEST_F(Timestamps, TwoThatAreMadeAtOnceLeaveOneThatIsSigned) {
  sh(std::string("for i in 1 2 3 4 5 6; do ") + stamp + " & " + stamp + " --json & done\nwait");
  EXPECT_EQ(open_on_a_new_machine().status, 0);
}

TEST_F(Timestamps, AKilledCommandIsMadeGoodByTheNext) {
  if (!can_trace()) GTEST_SKIP() << "strace cannot trace here";
  for (const char* call : {"rename", "unlink", "fsync"})
    for (int when = 1; when <= 3; ++when) {
      const std::string inject = std::string(call) + ":signal=SIGKILL:when=" + std::to_string(when);
      sh("strace -f -qq -o /dev/null -e inject=" + inject + " " + stamp + " || true");
      sh(stamp);
      EXPECT_EQ(open_on_a_new_machine().status, 0) << inject;
    }
}

}  // namespace
}  // namespace enginehost::test
