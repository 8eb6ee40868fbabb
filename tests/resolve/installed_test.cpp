// Installed builds and newer ones: which is tried first, and what is reported of the others.
#include <gmock/gmock.h>

#include "host/resolve/passed_over.hpp"
#include "tests/resolve/shipped.hpp"
#include "tests/resolve/toy.hpp"

namespace enginehost::resolve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string build_of(const std::string& version, const std::string& flavor, const std::string& needs = "{}",
                     const std::string& more = "") {
  return R"({"id":"toy-)" + version + "-" + flavor + R"(","version":")" + version + R"(","flavor":")" +
         flavor + R"(","os":"linux","arch":"x86_64","requires":)" + needs + more +
         R"(,"plugin":{"component":"p","path":"libengine_toy.so"},"components":[]})";
}
std::string cpu(const std::string& version, const std::string& more = "") {
  return build_of(version, "cpu", "{}", more);
}
std::string cuda(const std::string& version, const std::string& flavor, const std::string& toolkit,
                 const std::string& sass = R"(["8.0"])") {
  return build_of(version, flavor, R"({"cuda":{"toolkit":")" + toolkit + R"(","sass":)" + sass + "}}");
}

// The toy without a GPU, or with one.
struct Case {
  std::string builds;
  std::set<std::string> installed;
  Update update = Update::report;
  std::string version = {}, device = {}, force = {};
  bool has_gpu = false;
};

const Platform plain = linux_machine("2.36", "3.4.30");
const Platform with_gpu = with_gpus(plain, "580.65.06", "13.0", {{"A100", "8.0"}});

Plan plan_of(const Case& one, const history::History& history = {}) {
  Request request;
  request.engine = "toy";
  request.version = one.version;
  request.device = one.device;
  request.force = one.force;
  request.update = one.update;
  request.installed = request.installed_here = one.installed;
  return decide(one.has_gpu ? with_gpu : plain, toy_catalog(one.builds), history, request, now);
}

std::vector<std::string> tried(const Plan& plan) {
  std::vector<std::string> ids;
  for (const Candidate& candidate : plan.candidates)
    if (candidate.rank != 0) ids.push_back(candidate.build->id.substr(4));
  return ids;
}

// "1.2-cpu: reason" of each newer version.
std::vector<std::string> newer(const Plan& plan) {
  std::vector<std::string> found;
  for (const PassedOver& one : newer_passed_over(plan, plan.candidates.front()))
    found.push_back(one.candidate->build->id.substr(4) + ": " + one.reason);
  return found;
}

const std::string three = cpu("1.0") + "," + cpu("1.1") + "," + cpu("1.2");
const std::string to_fetch = ": not installed (--update open)";

TEST(InstalledBuilds, AreTriedBeforeNewerOnesUnlessAskedForUpdates) {
  const Plan report = plan_of({three, {"toy-1.0-cpu"}});
  EXPECT_THAT(tried(report), ElementsAre("1.0-cpu", "1.2-cpu", "1.1-cpu"));
  ASSERT_TRUE(report.update);
  EXPECT_EQ(report.update->id, "toy-1.2-cpu");
  EXPECT_FALSE(report.fallback) << "nothing better failed";
  EXPECT_THAT(newer(report), ElementsAre("1.2-cpu" + to_fetch));
  EXPECT_EQ(better_build(report)->candidate->build->id, "toy-1.2-cpu");

  const Plan never = plan_of({three, {"toy-1.0-cpu"}, Update::never});
  EXPECT_EQ(tried(never), tried(report));
  EXPECT_FALSE(never.update);
  EXPECT_THAT(newer(never), IsEmpty());
  EXPECT_FALSE(better_build(never));

  const Plan open = plan_of({three, {"toy-1.0-cpu"}, Update::open});
  EXPECT_THAT(tried(open), ElementsAre("1.2-cpu", "1.1-cpu", "1.0-cpu"));
  EXPECT_FALSE(open.update);
}

TEST(InstalledBuilds, AreRankedByVersionAmongEachOther) {
  for (const Update update : {Update::report, Update::open, Update::never}) {
    const Plan plan = plan_of({three, {"toy-1.0-cpu", "toy-1.1-cpu"}, update});
    const auto order = tried(plan);
    EXPECT_LT(std::ranges::find(order, "1.1-cpu"), std::ranges::find(order, "1.0-cpu"));
  }
  EXPECT_THAT(tried(plan_of({three, {"toy-1.0-cpu", "toy-1.1-cpu"}})),
              ElementsAre("1.1-cpu", "1.0-cpu", "1.2-cpu"));
  const Plan newest = plan_of({three, {"toy-1.2-cpu"}});
  EXPECT_FALSE(newest.update);
  EXPECT_THAT(newer(newest), IsEmpty());
  EXPECT_THAT(tried(plan_of({three, {}})), ElementsAre("1.2-cpu", "1.1-cpu", "1.0-cpu"));
}

TEST(InstalledBuilds, GiveWayToTheConstraintAndToWithdrawals) {
  EXPECT_EQ(tried(plan_of({three, {"toy-1.0-cpu"}, Update::never, ">=1.1"})).front(), "1.2-cpu");
  const std::string withdrawn = cpu("1.0", R"(,"yanked":"wrong answers")") + "," + cpu("1.1");
  EXPECT_THAT(tried(plan_of({withdrawn, {"toy-1.0-cpu"}, Update::never})), ElementsAre("1.1-cpu"));
  // One that failed here gives way to another installed one before anything is fetched.
  history::History history;
  history.records["toy-1.1-cpu"].state = history::State::disabled;
  const Plan plan = plan_of({three, {"toy-1.0-cpu", "toy-1.1-cpu"}}, history);
  EXPECT_THAT(tried(plan), ElementsAre("1.0-cpu", "1.2-cpu"));
  EXPECT_TRUE(plan.fallback) << "the installed 1.1 would have been better";
}

// A processor's build must not keep a GPU idle, nor a build without code for one of the cards.
TEST(InstalledBuilds, DoNotBeatBuildsForBetterDevices) {
  const std::string both = cpu("2.0") + "," + cuda("1.0", "cu126", "12.6");
  for (const Update update : {Update::report, Update::open, Update::never}) {
    Case one{both, {"toy-2.0-cpu"}, update};
    EXPECT_EQ(tried(plan_of(one)).front(), "2.0-cpu");
    one.has_gpu = true;
    EXPECT_THAT(tried(plan_of(one)), ElementsAre("1.0-cu126", "2.0-cpu"));
    one.device = "cpu,cuda";
    EXPECT_EQ(tried(plan_of(one)).front(), "2.0-cpu");
  }
  const Platform two_cards = with_gpus(plain, "580.65.06", "13.0", {{"A100", "8.0"}, {"L4", "8.9"}});
  Request request;
  request.engine = "toy";
  request.installed = request.installed_here = {"toy-2.0-cu126"};
  const auto catalog = toy_catalog(cuda("2.0", "cu126", "12.6", R"(["7.5"])") + "," +
                                   cuda("1.0", "cu126", "12.6", R"(["7.5","8.0","8.9"])"));
  EXPECT_EQ(tried(decide(two_cards, catalog, {}, request, now)).front(), "1.0-cu126");
}

TEST(InstalledBuilds, AreTakenOfOneVersionWhateverTheUpdate) {
  const std::string one_version = cuda("1.0", "cu126", "12.6") + "," + cuda("1.0", "cu130", "13.0");
  EXPECT_EQ(tried(plan_of({.builds = one_version, .installed = {}, .has_gpu = true})).front(), "1.0-cu130");
  for (const Update update : {Update::report, Update::open, Update::never}) {
    const Plan plan =
        plan_of({.builds = one_version, .installed = {"toy-1.0-cu126"}, .update = update, .has_gpu = true});
    EXPECT_THAT(tried(plan), ElementsAre("1.0-cu126", "1.0-cu130"));
    EXPECT_FALSE(plan.update) << "no newer version";
  }
}

TEST(InstalledBuilds, RankBehindAForcedBuild) {
  const Plan plan = plan_of({three, {"toy-1.0-cpu"}, Update::report, "", "", "toy-1.1-cpu"});
  EXPECT_THAT(tried(plan), ElementsAre("1.1-cpu", "1.0-cpu", "1.2-cpu"));
  EXPECT_FALSE(plan.update);
  EXPECT_THAT(newer(plan), ElementsAre("1.2-cpu: another build is forced"));
}

// A recorded machine has a cache of its own.
TEST(InstalledBuilds, CountOnlyOnTheMachineThatIsDecidedFor) {
  Request request;
  request.engine = "toy";
  request.installed = {"toy-1.0-cpu"};
  EXPECT_EQ(tried(decide(plain, toy_catalog(three), {}, request, now)).front(), "1.2-cpu");
}

// They compete by version with what is installed, and with the rest if nothing is.
TEST(InstalledBuilds, LeaveInstallationsInPlaceWhereTheyWere) {
  const auto order = [](const std::set<std::string>& installed, const std::string& in_place) {
    manifest::Catalog catalog = toy_catalog(three + "," + cpu("1.3"));
    for (auto& build : catalog.builds) {
      if (build->id != in_place) continue;
      auto changed = std::make_shared<manifest::Build>(*build);
      changed->in_place = std::make_shared<manifest::InPlace>();
      build = changed;
    }
    Request request;
    request.engine = "toy";
    request.installed = request.installed_here = installed;
    return tried(decide(plain, catalog, {}, request, now));
  };
  EXPECT_THAT(order({}, "toy-1.1-cpu"), ElementsAre("1.3-cpu", "1.2-cpu", "1.1-cpu", "1.0-cpu"));
  EXPECT_THAT(order({"toy-1.0-cpu"}, "toy-1.1-cpu"), ElementsAre("1.1-cpu", "1.0-cpu", "1.3-cpu", "1.2-cpu"));
  EXPECT_THAT(order({"toy-1.2-cpu"}, "toy-1.1-cpu"), ElementsAre("1.2-cpu", "1.1-cpu", "1.3-cpu", "1.0-cpu"));
}

// The stand-ins were installed before the driver, or because nobody accepted NVIDIA's license then.
TEST(InstalledBuilds, WithStandInsLeaveTheChoiceToTheDriver) {
  const std::string older = "pytorch-2.11.0-cpu-linux-x86_64-";
  int with_driver = 0, without = 0;
  for (const std::string& name : recorded_machines()) {
    const platform::Platform machine = machine_called(name);
    Request request;
    request.engine = "pytorch";
    request.device = "cpu";
    const Plan fresh = decide(machine, shipped(), {}, request, now);
    const auto ranked = [&](const Plan& plan, const std::string& id) {
      for (const Candidate& candidate : plan.candidates)
        if (candidate.build->id == id) return candidate.rank;
      return 0;
    };
    const int itself = ranked(fresh, older + "index"), stand_ins = ranked(fresh, older + "stand-ins");
    if (itself == 0 || stand_ins == 0) continue;
    request.installed = request.installed_here = {older + "stand-ins"};
    const Plan plan = decide(machine, shipped(), {}, request, now);
    const bool driver = itself < stand_ins;
    ++(driver ? with_driver : without);
    EXPECT_EQ(plan.candidates.front().build->id, older + (driver ? "index" : "stand-ins")) << name;
    EXPECT_EQ(ranked(plan, older + "stand-ins"), driver ? 2 : 1) << name;
    ASSERT_TRUE(plan.update) << name;
    EXPECT_EQ(plan.update->version, fresh.candidates.front().build->version) << name;
    // The other way round NVIDIA's files stay: no driver needs the stand-ins.
    request.installed = request.installed_here = {older + "index"};
    EXPECT_EQ(decide(machine, shipped(), {}, request, now).candidates.front().build->id, older + "index");
  }
  EXPECT_GT(with_driver, 0);
  EXPECT_GT(without, 0);
}

}  // namespace
}  // namespace enginehost::resolve
