// Which versions a request accepts, and which texts are no version specifier.
#include "base/version_specifier.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(VersionSpecifierTest, AcceptsMatchingVersions) {
  struct Row {
    const char *constraint, *accepted, *refused;  // versions, joined by blanks
  };
  for (const auto& [constraint, accepted, refused] : {
           Row{"", "1.0 2.0rc1 nightly", ""},
           Row{"1.20", "1.20 1.20.0 1.20.5 1.20.1+cu118 1.20rc1 1.20.0.post1", "1.2 1.21 1.200 nightly"},
           Row{"1", "1 1.0 1.99.3", "10.0 2.1 0.1"},
           Row{"1.0", "1 1.0.0", "1.1"},
           Row{"v1.20", "1.20.3 v1.20", "1.21"},
           Row{"1.20.*", "1.20.5", "1.21"},
           Row{"==1.27.*", "1.27.0 1.27.9.post1", "1.28.0 1.2.7"},
           Row{"!=1.27.*", "1.28 1.26.4", "1.27.0 1.27"},
           Row{"!=1.0.*", "1.1", "1 1.0 1.0.5 1rc1"},
           Row{"~=1.0.0", "1 1.0 1.0.3", "1rc1 1.1 0.9"},
           Row{"==1.2", "1.2 1.2.0 1.2+cpu", "1.2.1 1.2rc1 1.2.post1"},
           Row{"==2.0.1+cu118", "2.0.1+cu118 2.0.1.0+cu118", "2.0.1 2.0.1+cpu"},
           Row{"2.0.1+cu118", "2.0.1+cu118", "2.0.1 2.0.1+cu121"},
           Row{"!=1.2", "1.2.1 1.3", "1.2 1.2.0 1.2+cpu"},
           Row{">=1.20", "1.20 1.20.1 1.100 2.0 1.20+cpu", "1.19.9 1.20rc1 1.3"},
           Row{">=1.20rc1", "1.20rc1 1.20rc10 1.20", "1.20b9 1.20.dev1"},
           Row{">1.0", "1.0.1 2.0", "1.0 1.0.0 1.0.post1 1.0+cpu"},
           Row{">1.0.post1", "1.0.post2 1.1", "1.0.post1 1.0"},
           Row{"<2", "1.9.9 1.0rc1", "2.0 2.0rc1 2.0.dev1"},
           Row{"<2.0rc2", "2.0rc1 1.0", "2.0rc2 2.0"},
           Row{"<=3", "3.0 2.9 3.0rc1", "3.0.1"},
           Row{"~=2.2", "2.2 2.9", "2.1 3.0"},
           Row{"~=1.20.1", "1.20.1 1.20.7", "1.20.0 1.21 1.21.1"},
           Row{">=2,<3", "2.0 2.9", "1.9 3.0"},
           Row{" >= 2.0 , < 2.2 , != 2.1.* ", "2.0", "2.1.3 2.2"},
           Row{"===nightly", "nightly", "1.0 nightly2"},
       }) {
    const VersionSpecifier read(constraint);
    EXPECT_EQ(read.problem(), "") << constraint;
    for (const auto& [versions, wanted] : {std::pair(accepted, true), {refused, false}})
      for (const std::string& version : split(versions, ' '))
        if (!version.empty()) {
          EXPECT_EQ(read.accepts(version), wanted) << constraint << " and " << version;
        }
  }
}

TEST(VersionSpecifierTest, IfUnreadableIsReportedAndAcceptsNothing) {
  for (const char* constraint :
       {"x",          "latest", "1.x",         "=>2",     "=2",        "=",         ">=",    "<",   ">=x",
        ">=2,",       ",>=2",   ">=2,,<3",     ">>2",     "1.20,<2",   "1.20,1.21", ">=1.*", "~=2", "~=2.*",
        "==1.0rc1.*", "==*",    ">=2.0+cu118", "1.0 2.0", ">=1.20 <2", "1.20)",     "===",   " "}) {
    const VersionSpecifier read(constraint);
    EXPECT_NE(read.problem(), "") << constraint;
    EXPECT_FALSE(read.accepts("2.0")) << constraint;
    EXPECT_FALSE(read.accepts("1.20")) << constraint;
  }
  EXPECT_THAT(VersionSpecifier(">=2,<banana").problem(), HasSubstr("\"banana\" is no version"));
}

TEST(VersionSpecifierTest, NamesAPrereleaseOrDoesNot) {
  for (const char* constraint : {"2.0rc1", "==2.0a1", ">=2.0.dev1", ">=1,<2.0rc1", "===2.0rc1"})
    EXPECT_TRUE(VersionSpecifier(constraint).names_prerelease()) << constraint;
  for (const char* constraint : {"", "2.0", ">=2", "!=2.0rc1", "==2.0.post1"})
    EXPECT_FALSE(VersionSpecifier(constraint).names_prerelease()) << constraint;
}

// Builds of the reference engine with these versions, "1.0:cu118" for one that computes on a GPU.
Plan plan_of(const std::vector<std::string>& builds, const std::string& version,
             const std::string& flavor = {}, const Platform& machine = ubuntu22) {
  manifest::Catalog offered;
  for (const std::string& text : builds) {
    auto build = std::make_shared<manifest::Build>();
    build->engine = "toy";
    build->version = text.substr(0, text.find(':'));
    build->flavor = text.find(':') == std::string::npos ? "cpu" : text.substr(text.find(':') + 1);
    build->id = "toy-" + build->version + "-" + build->flavor;
    build->os = "linux";
    build->arch = "x86_64";
    offered.builds.push_back(std::move(build));
  }
  Request request;
  request.engine = "toy";
  request.version = version;
  request.flavor = flavor;
  return decide(machine, offered, {}, request, now);
}

TEST(PrereleaseTest, IsTakenWhenItIsNamedOrNothingElseFits) {
  const std::vector<std::string> offered = {"1.9", "1.10", "2.0rc1", "2.0.dev5", "1.10.post1"};
  EXPECT_THAT(ranked(plan_of(offered, "")),
              ElementsAre("1.10.post1-cpu", "1.10-cpu", "1.9-cpu", "2.0rc1-cpu", "2.0.dev5-cpu"));
  EXPECT_EQ(chosen(plan_of(offered, ">=1")), "1.10.post1-cpu");
  EXPECT_EQ(chosen(plan_of(offered, ">=2.0.dev1")), "2.0rc1-cpu");
  EXPECT_EQ(chosen(plan_of(offered, "2.0.dev5")), "2.0.dev5-cpu");
  EXPECT_EQ(chosen(plan_of(offered, "2.0")), "2.0rc1-cpu");
  EXPECT_THAT(ranked(plan_of(offered, ">=2")), ElementsAre());
}

TEST(PrereleaseTest, WithTheOnlyMatchingFlavorLeavesAFallback) {
  const Plan plan = plan_of({"1.0", "2.0rc1:other"}, "", "other");
  EXPECT_EQ(chosen(plan), "1.0-cpu");
  EXPECT_TRUE(plan.fallback);
  EXPECT_THAT(describe_plan(plan, explain::one_line), HasSubstr("fits         a prerelease; name it"));
  EXPECT_TRUE(to_json(plan.candidates.at(1))["behind_releases"].as_bool());
  // Without any release, being a prerelease is no reason.
  const Plan alone = plan_of({"1.0rc1", "2.0rc1"}, "");
  EXPECT_THAT(describe_plan(alone, explain::one_line), Not(HasSubstr("it is a prerelease")));
}

TEST(PrereleaseTest, ThatAloneUsesTheAcceleratorIsReported) {
  const Platform machine = with_gpus(ubuntu22, "580.65.06", "13.0", {{"RTX 4090", "8.9"}});
  const auto reported = [&](const std::string& version, const std::string& flavor = {}) {
    const Plan plan = plan_of({"1.0", "1.0:other", "2.0rc1:cu118"}, version, flavor, machine);
    return idle_accelerator(plan, machine, *plan.candidates.at(0).build);
  };
  const auto idle = reported("");
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->value(Key::nearest), "toy-2.0rc1-cu118");
  EXPECT_THAT(std::string(idle->value(Key::reason)), HasSubstr("it is a prerelease"));
  EXPECT_EQ(idle->value(Key::named), "toy@2.0rc1");
  EXPECT_FALSE(reported(">=1.0rc1")) << "it is taken";
  EXPECT_FALSE(reported("", "other")) << "the wish for a flavor puts it behind as well";
}

}  // namespace
}  // namespace enginehost::resolve
