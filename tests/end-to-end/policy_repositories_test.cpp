// Which repositories an administrator's policy lets builds come from, through the commands.
#include <gmock/gmock.h>

#include "tests/end-to-end/policies.hpp"
#include "tests/end-to-end/repository.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

class PolicyOfRepositories : public Policies {
 protected:
  PolicyOfRepositories() : repository(workplace.folder() / "repository") {
    repository.add(good_build());
    repository.write();
  }
  std::string folder() const { return repository.root().native(); }
  // The engine of the build that these commands belong to comes along, as it does with an installed EngineHost.
  void let_the_shipped_one_serve() const { workplace.configure(Json::object()); }
  void expect_nothing_installed() const {
    EXPECT_FALSE(std::filesystem::exists(workplace.cache() / "views") &&
                 !std::filesystem::is_empty(workplace.cache() / "views"));
  }
  TestRepository repository;
};

TEST_F(PolicyOfRepositories, WhereSignaturesAreRequiredNothingUnsignedServes) {
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
  // A person is told the file, the rule and the repository.
  const Ended text = run(policy, {"reference"});
  EXPECT_EQ(text.status, 8);
  EXPECT_THAT(text.error + text.output, HasSubstr(rule + " in " + system_file));
  EXPECT_EQ(run(Json::object(), {"reference", "--json"}).status, 0) << "without the policy it serves";
}

TEST_F(PolicyOfRepositories, WhereOthersMustBeSignedTheShippedOneIsTrustedByItsPlace) {
  const Json policy = one("unsigned_repositories", false);
  expect_refusal(run(policy, {"reference", "--repository", folder(), "--json"}),
                 "policy.unsigned_repositories", "policy.unsigned_repositories = false");
  expect_nothing_installed();
  let_the_shipped_one_serve();
  EXPECT_EQ(run(policy, {"reference", "--json"}).status, 0);
}

TEST_F(PolicyOfRepositories, WhatWasInstalledFromAnUnsignedOneStillOpens) {
  ASSERT_EQ(workplace.info({"reference", "--repository", folder(), "--json"}).status, 0);
  EXPECT_EQ(run(one("require_signatures", true), {"reference", "--json"}).status, 0);
}

}  // namespace
}  // namespace enginehost::test
