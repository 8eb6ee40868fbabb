// The repositories from which an administrator's policy allows builds, through the commands.
#include <gmock/gmock.h>

#include "tests/end-to-end/policies.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/served.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RepositoryPolicy : public Policies {
 protected:
  RepositoryPolicy() : repository(workplace.folder() / "repository") {
    repository.add(good_build());
    repository.write();
  }
  std::string folder() const { return repository.root().native(); }
  // The reference engine is in the repository that is shipped with EngineHost.
  void let_the_shipped_one_serve() const { workplace.configure(Json::object()); }
  void expect_nothing_installed() const {
    EXPECT_FALSE(std::filesystem::exists(workplace.cache() / "views") &&
                 !std::filesystem::is_empty(workplace.cache() / "views"));
  }
  TestRepository repository;
};

TEST_F(RepositoryPolicy, RequiredSignaturesRefuseUnsignedRepositories) {
  const Json policy = one("require_signatures", true);
  const std::string rule = "policy.require_signatures = true";
  expect_refusal(run(policy, {"reference", "--repository", folder(), "--json"}), "policy.require_signatures",
                 rule);
  expect_refusal(run(policy, {"reference", "--json"}, {"ENGINEHOST_REPOSITORIES=" + folder()}),
                 "policy.require_signatures", rule);
  const Json configuration = Json::object().set("policy", policy);
  expect_refusal(
      run_command("engine-cache", configuration, {"fetch", "reference", "--repository", folder(), "--json"}),
      "policy.require_signatures", rule);
  Json listing = configuration;
  listing.set("repositories", Json::strings({folder()}));
  expect_refusal(run_command("engine-info", listing, {"reference", "--json"}), "policy.require_signatures",
                 rule);
  let_the_shipped_one_serve();
  const Ended shipped = run(policy, {"reference", "--json"});
  expect_refusal(shipped, "policy.require_signatures", rule);
  EXPECT_THAT(evidence(shipped.diagnosis(), "what"), HasSubstr("share/enginehost/repository"));
  expect_nothing_installed();
  // The text names the file, the rule and the repository.
  const Ended text = run(policy, {"reference"});
  EXPECT_EQ(text.status, 8);
  EXPECT_THAT(text.error + text.output, HasSubstr(rule + " in " + system_file));
  EXPECT_EQ(run(Json::object(), {"reference", "--json"}).status, 0) << "without the policy it serves";
}

TEST_F(RepositoryPolicy, TheShippedRepositoryIsTrustedByItsPlace) {
  const Json policy = one("unsigned_repositories", false);
  expect_refusal(run(policy, {"reference", "--repository", folder(), "--json"}),
                 "policy.unsigned_repositories", "policy.unsigned_repositories = false");
  expect_nothing_installed();
  let_the_shipped_one_serve();
  EXPECT_EQ(run(policy, {"reference", "--json"}).status, 0);
}

TEST_F(RepositoryPolicy, InstalledBuildsOfAnUnsignedRepositoryOpen) {
  ASSERT_EQ(workplace.info({"reference", "--repository", folder(), "--json"}).status, 0);
  EXPECT_EQ(run(one("require_signatures", true), {"reference", "--json"}).status, 0);
}

// The server decodes "%2f" before it looks for "..".
TEST_F(RepositoryPolicy, AnEncodedPathLeadsOutOfNoAllowedRepository) {
  const NginxServer server;
  std::filesystem::create_directories(server.root() / "good");
  TestRepository evil(server.root() / "evil");
  evil.add(good_build());
  evil.write();
  const Json policy = one("repositories", Json::strings({server.url("good")}));
  for (const char* path : {"good/..%2fevil", "good/%2e%2e%2Fevil", "good/..%5cevil", "good/..;/evil",
                           "good/%252e%252e/evil", "good?/../evil", "good/%2e%2e/evil"}) {
    const Ended run =
        this->run(policy, {"reference", "--repository", server.url(path), "--allow-unsigned", "--json"});
    EXPECT_THAT(run.code(), testing::AnyOf("EH-P01", "EH-P02")) << path << run.said();
    EXPECT_EQ(server.requests("GET"), 0) << path;
  }
}

TEST_F(RepositoryPolicy, TheShippedRepositoryServesOnlyIfAListAllowsIt) {
  let_the_shipped_one_serve();
  const Json list = one("repositories", Json::strings({"https://engines.lab.example/"}));
  const Ended refused = run(list, {"reference", "--json"});
  EXPECT_NE(refused.status, 0) << refused.said();
  EXPECT_EQ(setting(refused, "repositories_default")["value"].as_string(), "false");
  EXPECT_NE(run(one("locked", Json::strings({"repositories"})), {"reference", "--json"}).status, 0);
  expect_nothing_installed();
  Json with_it = list;
  EXPECT_EQ(run(with_it.set("repositories_default", true), {"reference", "--json"}).status, 0);
}

TEST_F(RepositoryPolicy, AForbiddenHostIsRefusedByNameUnlessAnotherServes) {
  const Json policy = one("allowed_hosts", Json::strings({"x.example"}));
  const std::string rule = "policy.allowed_hosts = x.example";
  const std::string host = "http://127.0.0.1:9/";
  expect_refusal(run(policy, {"reference", "--repository", host, "--repository", folder(), "--json"}),
                 "policy.allowed_hosts", rule);
  expect_refusal(run(policy, {"reference", "--json"}, {"ENGINEHOST_REPOSITORIES=" + host}),
                 "policy.allowed_hosts", rule);
  const Ended other =
      run(policy, {"reference", "--repository", folder(), "--json"}, {"ENGINEHOST_REPOSITORIES=" + host});
  EXPECT_EQ(other.status, 0) << other.said();
  EXPECT_THAT(other.document["warnings"].dump(), HasSubstr("EH-P01"));
}

TEST_F(RepositoryPolicy, AForbiddenSourceIsSkippedOrReported) {
  const std::string bytes = zip_of({{plugin_name, reference_plugin()}});
  const std::string digest = repository.store(bytes);
  const auto offer = [&](Json sources) {
    TestRepository other(repository.root());
    TestBuild build = good_build("reference-other");
    other.add_with_artifacts(
        build,
        Json::array().push(
            Json::object().set("sha256", digest).set("archive", "zip").set("sources", std::move(sources))));
    other.write();
  };
  const Json forbidden = Json::object().set("url", "http://127.0.0.1:9/archive.zip");
  const Json policy = one("allowed_hosts", Json::strings({"x.example"}));
  offer(Json::array().push(forbidden));
  expect_refusal(run(policy, {"reference", "--repository", folder(), "--json"}), "policy.allowed_hosts",
                 "policy.allowed_hosts = x.example");
  offer(Json::array().push(forbidden).push(repository.source_of(digest)));
  const Ended served = run(policy, {"reference", "--repository", folder(), "--json"});
  EXPECT_EQ(served.status, 0) << served.said();
  EXPECT_THAT(served.document["warnings"].dump(), HasSubstr("EH-P01"));
}

// Mirrors of one file are asked together.
TEST_F(RepositoryPolicy, AForbiddenMirrorLeavesTheOthers) {
  for (const bool first : {true, false}) {
    Served served;
    const Json right = served.repository.source_of(served.digest);
    const Json forbidden =
        Json::object().set("url", "http://localhost:" + std::to_string(served.server.port()) + served.path());
    served.publish(first ? Json::array().push(forbidden).push(right)
                         : Json::array().push(right).push(forbidden));
    const Workplace another;
    RunOptions options;
    options.launcher = with_system_file(
        another,
        Json::object().set("policy", Json::object().set("allowed_hosts", Json::strings({"127.0.0.1"}))));
    const Ended run = another.info(served.arguments(), options);
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_GE(served.server.requests("GET " + served.path()), 1);
  }
}

// An unreachable repository delays nobody, and a report says that it was not asked.
TEST_F(RepositoryPolicy, AnUnreachableRepositoryIsReportedOnceUnlessOffline) {
  const std::string nobody = "http://127.0.0.1:9/";
  const std::vector<std::string> both = {"reference", "--repository", nobody, "--repository", folder()};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), both.begin(), both.end());
    return workplace.info(std::move(more));
  };
  for (const Ended& run : {with({"--json"}), with({"--json"}), with({"--plan", "--json"})}) {
    EXPECT_EQ(run.status, 0) << run.said();
    ASSERT_EQ(run.document["warnings"].as_array().size(), 1u) << run.said();
    EXPECT_THAT(run.document["warnings"].dump(), AllOf(HasSubstr("EH-N"), HasSubstr("127.0.0.1:9")));
  }
  EXPECT_THAT(with({}).error, HasSubstr("127.0.0.1:9"));
  EXPECT_EQ(with({"--offline", "--json"}).document["warnings"].as_array().size(), 0u);
  workplace.configure(Json::object()
                          .set("repositories_default", false)
                          .set("offline", true)
                          .set("repositories", Json::strings({nobody})));
  EXPECT_EQ(workplace.info({"reference", "--json"}).document["warnings"].as_array().size(), 0u);
}

// Otherwise a bundle would bring a build that its repository may not.
TEST_F(RepositoryPolicy, ABundleOfAForbiddenRepositoryIsNotImported) {
  const std::string bundle = (workplace.folder() / "site.bundle").native();
  const Workplace connected;
  ASSERT_EQ(connected.run("engine-cache", {"fetch", "reference", "--repository", folder()}).status, 0);
  ASSERT_EQ(
      connected.run("engine-cache", {"export", bundle, "reference-good", "--repository", folder()}).status,
      0);
  const std::vector<std::string> import = {"import", bundle, "--json"};
  const auto with = [](const Json& policy) { return Json::object().set("policy", policy); };
  const Ended elsewhere =
      run_command("engine-cache", with(one("repositories", Json::strings({"/srv/engines"}))), import);
  expect_refusal(elsewhere, "policy.repositories", "policy.repositories = /srv/engines");
  EXPECT_THAT(evidence(elsewhere.diagnosis(), "what"),
              HasSubstr("comes from the repository \"made by a test\""));
  expect_refusal(run_command("engine-cache", with(one("locked", Json::strings({"repositories"}))), import),
                 "policy.locked", "policy.locked = repositories");
  // The bundle alone does not prove its repository's name.
  const Ended unproven =
      run_command("engine-cache", with(one("repositories", Json::strings({"made by a test"}))), import);
  expect_refusal(unproven, "policy.repositories", "policy.repositories = made by a test");
  EXPECT_THAT(evidence(unproven.diagnosis(), "what"), HasSubstr("no key that is trusted here"));
  expect_nothing_installed();
  EXPECT_EQ(run_command("engine-cache", Json::object(), import).status, 0);
}

class SignedBundlePolicy : public Publisher {};

TEST_F(SignedBundlePolicy, AllowsBundlesOfAnAllowedRepository) {
  if (!can_mount()) GTEST_SKIP() << "a policy needs a /etc of its own, and with it the right to mount";
  publish_signed();
  ASSERT_EQ(open().status, 0);
  const std::string bundle = (publisher_ / "signed.bundle").native();
  ASSERT_EQ(user_
                .run("engine-cache",
                     {"export", bundle, "reference-1.0.0-cpu-linux-x86_64", "--redistribute", "unknown"})
                .status,
            0);
  const Workplace strict;
  ASSERT_EQ(strict.run("engine-cache", {"trust", "add", publisher_ / "key.pub"}).status, 0);
  const auto import = [&](const Json& configuration) {
    RunOptions options;
    options.launcher = with_system_file(strict, configuration);
    return strict.run("engine-cache", {"import", bundle, "--json"}, options);
  };
  const auto list = [](const std::string& location) {
    return Json::object().set("policy", Json::object().set("repositories", Json::strings({location})));
  };
  const Json lock =
      Json::object().set("policy", Json::object().set("locked", Json::strings({"repositories"})));
  EXPECT_EQ(import(list("https://another.example/")).code(), "EH-P01");
  EXPECT_EQ(import(lock).code(), "EH-P01");
  Json of_this_one = lock;
  of_this_one.set("repositories", Json::strings({location()}));
  EXPECT_EQ(import(of_this_one).status, 0);
  const Ended allowed = import(list(server_.url("")));
  EXPECT_EQ(allowed.status, 0) << allowed.said();
}

}  // namespace
}  // namespace enginehost::test
