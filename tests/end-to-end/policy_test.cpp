// The administrator's policy through the commands, and mirrors and proxies.
#include <gmock/gmock.h>

#include "tests/end-to-end/policies.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/support/certificates.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

TEST_F(Policies, AHostThatIsNotAllowedIsNotAsked) {
  Served served;
  served.publish();
  const Ended refused = run(one("allowed_hosts", Json::strings({"mirror.example"})), served.arguments());
  expect_refusal(refused, "policy.allowed_hosts", "policy.allowed_hosts = mirror.example");
  EXPECT_EQ(served.server.log(), "");
  EXPECT_EQ(run(one("allowed_hosts", Json::strings({"127.0.0.1"})), served.arguments()).status, 0);
}

TEST_F(Policies, ARedirectToAForbiddenHostIsNotFollowed) {
  Served served, elsewhere;
  const Json url = Json::object().set("url", served.server.url("moved"));
  Served redirecting("location = /moved { return 302 http://localhost:" +
                     std::to_string(elsewhere.server.port()) + "/repository/files/" + served.digest + "; }");
  redirecting.publish(Json::array().push(Json::object().set("url", redirecting.server.url("moved"))));
  const Ended refused = run(one("allowed_hosts", Json::strings({"127.0.0.1"})), redirecting.arguments());
  expect_refusal(refused, "policy.allowed_hosts", "policy.allowed_hosts = 127.0.0.1");
  EXPECT_EQ(redirecting.server.requests("GET /moved"), 1);
  EXPECT_EQ(elsewhere.server.log(), "");
}

TEST_F(Policies, ARepositoryThatIsNotAllowedIsRefused) {
  Served served;
  served.publish();
  expect_refusal(run(one("repositories", Json::strings({"https://mirror.example/"})), served.arguments()),
                 "policy.repositories", "policy.repositories = https://mirror.example/");
}

TEST_F(Policies, AFileLargerThanAllowedIsNotFetched) {
  Served served;
  served.publish();
  const Ended refused =
      run(one("downloads", Json::object().set("max_artifact_bytes", 1000)), served.arguments());
  expect_refusal(refused, "policy.downloads.max_artifact_bytes",
                 "policy.downloads.max_artifact_bytes = 1000");
  EXPECT_EQ(served.server.requests("GET " + served.path()), 0);
}

TEST_F(Policies, ALockedFlavorCannotBeOverriddenByARequest) {
  Served served;
  served.publish();
  std::vector<std::string> arguments = served.arguments();
  arguments.insert(arguments.end(), {"--flavor", "cu118"});
  expect_refusal(run(one("flavor", "cpu"), arguments), "policy.flavor", "policy.flavor = cpu");
  EXPECT_EQ(run(one("flavor", "cpu"), served.arguments()).status, 0);
}

TEST_F(Policies, OfflineByPolicyOpensNoSocketAndIsShownAsLocked) {
  Served served;
  served.publish();
  workplace.configure(Json::object().set("repositories_default", false).set("offline", false));
  const Ended refused = run(one("offline", true), served.arguments());
  EXPECT_EQ(served.server.log(), "");
  EXPECT_NE(refused.status, 0);
  EXPECT_EQ(setting(refused, "offline")["value"].as_string(), "true");
  EXPECT_EQ(setting(refused, "offline")["source"].as_string(), std::string("policy of ") + system_file);
  EXPECT_TRUE(setting(refused, "offline")["locked"].as_bool());
  EXPECT_FALSE(setting(refused, "log")["locked"].as_bool(true));
  const Ended text = run(one("offline", true), {"--verbose"});
  EXPECT_THAT(text.output,
              HasSubstr(std::string("offline       true  (policy of ") + system_file + ", locked)"));
  EXPECT_THAT(text.error, HasSubstr("keeps it at \"true\""));
}

TEST_F(Policies, ALicenseIsAcceptedForEveryoneOrNobody) {
  const std::string text(64, 'a');
  TestBuild build = good_build();
  build.license = "vendor";
  build.terms = Json::object()
                    .set("id", "LicenseRef-vendor")
                    .set("url", "https://licenses.example/vendor")
                    .set("sha256", text)
                    .set("accept", "explicit");
  TestRepository repository(workplace.folder() / "repository");
  repository.add(build);
  repository.write();
  const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                              "--json"};
  std::vector<std::string> accepting = arguments;
  accepting.insert(accepting.end(), {"--accept-license", "LicenseRef-vendor"});
  const Json forbids = one("forbid_licenses", Json::strings({"LicenseRef-vendor"}));
  const std::string rule = "policy.forbid_licenses = LicenseRef-vendor";
  expect_refusal(run(forbids, arguments), "policy.forbid_licenses", rule);
  expect_refusal(run(forbids, accepting), "policy.forbid_licenses", rule);
  const Json locks = one("locked", Json::strings({"accept_licenses"}));
  expect_refusal(run(locks, arguments), "policy.locked", "policy.locked = accept_licenses");
  expect_refusal(run(locks, accepting), "policy.locked", "policy.locked = accept_licenses");
  // The publisher of an unsigned repository could write any id, and chooses the license's key.
  for (const char* id : {"LicenseRef-vendor", "vendor"})
    EXPECT_EQ(run(one("accept_licenses", Json::strings({id})), arguments).code(), "EH-P03") << id;
  const Json named = Json::object().set("id", "LicenseRef-vendor").set("sha256", text);
  const Ended accepted = run(one("accept_licenses", Json::array().push(named)), arguments);
  EXPECT_EQ(accepted.status, 0) << accepted.said();
  const Ended list = workplace.run(
      "engine-cache", {"licenses", "list", "--repository", repository.root().native(), "--json"});
  ASSERT_EQ(list.document["consents"].as_array().size(), 1u) << list.said();
  EXPECT_EQ(list.document["consents"].as_array()[0]["how"].as_string(), "policy");
  EXPECT_EQ(list.document["licenses"].as_array()[0]["state"].as_string(), "not_accepted")
      << "it does not outlast the policy";
}

// Behind a mirror, users could not see which address was really asked.
TEST(Mirrors, Case18AreAskedFirstAndShownWithTheirSource) {
  Served mirror, origin;
  origin.publish();
  write_text(mirror.server.root() / "copy" / origin.digest, origin.archive);
  const Workplace workplace;
  workplace.configure(
      Json::object()
          .set("repositories_default", false)
          .set("mirrors", Json::array().push(Json::object()
                                                 .set("of", origin.server.url("repository/files"))
                                                 .set("use", mirror.server.url("copy")))));
  const Ended run = workplace.info(origin.arguments());
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(mirror.server.requests("GET /copy/" + origin.digest), 1);
  EXPECT_EQ(origin.server.requests("GET " + origin.path()), 0);
  EXPECT_EQ(setting(run, "mirrors")["value"].as_string(),
            origin.server.url("repository/files/") + " -> " + mirror.server.url("copy/"));
  EXPECT_EQ(setting(run, "mirrors")["source"].as_string(),
            (workplace.folder() / "config/enginehost/config.json").native());
}

// Proxies and the hosts that need none come from the same variables as in other programs, certificates from
// the site's own file. All of them are shown, so that users see which setting decided.
TEST(Mirrors, Case18ProxiesAndCertificatesAreUsedAndShown) {
  // A proxy gets the whole URL, which nginx treats as a path. The host name does not resolve.
  Served proxy;
  proxy.publish();
  RunOptions behind;
  behind.environment = {"http_proxy=" + proxy.server.url(""), "https_proxy=http://127.0.0.1:9",
                        "NO_PROXY=127.0.0.1"};
  const std::string unreachable = "http://engines.invalid/repository";
  const Workplace workplace;
  const Ended through = workplace.info(
      {"reference", "--allow-unsigned", "--repository", unreachable, "--plan", "--json"}, behind);
  EXPECT_EQ(through.status, 0) << through.said();
  EXPECT_GE(proxy.server.requests("GET /repository/index.json"), 1);
  const std::pair<const char*, std::string> shown[] = {
      {"http_proxy", proxy.server.url("")}, {"https_proxy", "http://127.0.0.1:9"}, {"NO_PROXY", "127.0.0.1"}};
  for (const auto& [key, value] : shown) {
    EXPECT_THAT(setting(through, key)["value"].as_string(), testing::StartsWith(value.substr(0, 20))) << key;
    EXPECT_EQ(setting(through, key)["source"].as_string(), "environment") << key;
  }

  // Over TLS: the proxy for https does not answer, and this host needs none.
  const Certificates certificates;
  const int port = free_port();
  Served secure(certificates.directives(port));
  const std::string address = "https://127.0.0.1:" + std::to_string(port) + "/";
  secure.repository.serve_from(address + "repository/");
  secure.publish();
  const std::vector<std::string> arguments = {"reference", "--allow-unsigned", "--repository",
                                              address + "repository", "--json"};
  const Workplace unlisted_file;
  const Ended unknown = unlisted_file.info(arguments, behind);
  EXPECT_EQ(unknown.status, 4) << "nobody here trusts that authority: " << unknown.said();
  EXPECT_THAT(unknown.output, HasSubstr("EH-N05"));
  Workplace known;
  known.configure(
      Json::object().set("repositories_default", false).set("extra_ca", certificates.authority()));
  const Ended opened = known.info(arguments, behind);
  EXPECT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(setting(opened, "extra_ca")["value"].as_string(), certificates.authority());
  EXPECT_EQ(setting(opened, "extra_ca")["source"].as_string(),
            (known.folder() / "config/enginehost/config.json").native());
  RunOptions everything_through_it = behind;
  everything_through_it.environment[2] = "NO_PROXY=another.example";
  Workplace refused;
  refused.configure(
      Json::object().set("repositories_default", false).set("extra_ca", certificates.authority()));
  const Ended stuck = refused.info(arguments, everything_through_it);
  EXPECT_EQ(stuck.status, 4) << stuck.said();
  EXPECT_THAT(stuck.output, HasSubstr("127.0.0.1:9")) << "the proxy that did not answer is named";
}

TEST(Mirrors, MissingOrDifferentFilesComeFromTheOrigin) {
  for (const bool other : {false, true}) {
    Served mirror, origin;
    origin.publish();
    if (other)
      write_text(mirror.server.root() / "copy" / origin.digest, std::string(origin.archive.size(), 'x'));
    const Workplace workplace;
    workplace.configure(
        Json::object()
            .set("repositories_default", false)
            .set("mirrors", Json::array().push(Json::object()
                                                   .set("of", origin.server.url("repository/files"))
                                                   .set("use", mirror.server.url("copy")))));
    const Ended run = workplace.info(origin.arguments());
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_GE(mirror.server.requests("GET /copy/" + origin.digest), 1);
    EXPECT_EQ(origin.server.requests("GET " + origin.path()), 1);
  }
}

}  // namespace
}  // namespace enginehost::test
