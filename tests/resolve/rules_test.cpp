// The rules one by one: request, ranking, history, offline, unknown facts.
#include <gmock/gmock.h>

#include "host/resolve/cuda.hpp"
#include "host/resolve/describe.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Platform a100 = with_gpus(ubuntu22, "535.104.05", "12.2", {{"A100", "8.0"}});

Request request_for(const std::string& engine = "pytorch") {
  Request request;
  request.engine = engine;
  return request;
}

const manifest::Build& build_named(const std::string& id) {
  for (const auto& build : catalog().builds)
    if (build->id == id) return *build;
  ADD_FAILURE() << "no build " << id;
  return *catalog().builds[0];
}

history::History history_with(const std::string& id, history::State state, std::int64_t retry_after = 0) {
  history::Record record;
  record.build = id;
  record.artifacts_digest = build_named(id).artifacts_digest();
  record.state = state;
  record.retry_after = retry_after;
  record.diagnosis = Json::object().set("code", "EH-L01").set("cause", "libx.so.1 is missing");
  history::History history;
  history.records[id] = record;
  return history;
}

TEST(RequestTest, AVersionPrefixMeansTheNewestThatBeginsSo) {
  Request request = request_for();
  request.version = "2.0";
  EXPECT_EQ(chosen(plan_for(a100, request)), "2.0.1-cu118");
  request.version = "2";
  EXPECT_EQ(chosen(plan_for(a100, request)), "2.8.0-cu129");
  request.version = ">=1.13,<2";
  EXPECT_THAT(ranked(plan_for(a100, request)), ElementsAre("1.13.1-cu117"));
  request.version = "2.0.1.5";
  const Plan plan = plan_for(a100, request);
  EXPECT_EQ(plan.diagnosis->code, "EH-S01");
  EXPECT_EQ(code_of(plan, "2.8.0-cu129"), "EH-S05");
}

TEST(RequestTest, AFlavorIsAPreferenceUnlessRequired) {
  Request request = request_for();
  request.flavor = "cu126";
  Plan plan = plan_for(a100, request);
  EXPECT_EQ(ranked(plan).front(), "2.8.0-cu126");
  EXPECT_EQ(ranked(plan).at(1), "2.8.0-cu129");
  EXPECT_FALSE(plan.fallback);
  request.require = true;
  EXPECT_THAT(ranked(plan_for(a100, request)), ElementsAre("2.8.0-cu126"));
  EXPECT_EQ(code_of(plan_for(a100, request), "2.8.0-cpu"), "EH-S04");
  plan = plan_for(ubuntu22, request);
  EXPECT_THAT(ranked(plan), IsEmpty());
  EXPECT_EQ(plan.diagnosis->code, "EH-S01");
  EXPECT_EQ(plan.diagnosis->value(Key::first_code), "EH-G01");
  request.require = false;
  plan = plan_for(ubuntu22, request);
  EXPECT_EQ(chosen(plan), "2.8.0-cpu");
  EXPECT_TRUE(plan.fallback) << "the wish was not met";
}

TEST(RequestTest, ASingleDeviceIsRequiredAndAListIsAPreference) {
  Request request = request_for();
  request.device = "cuda:0";
  EXPECT_EQ(chosen(plan_for(a100, request)), "2.8.0-cu129");
  EXPECT_EQ(code_of(plan_for(a100, request), "2.8.0-cpu"), "EH-S09");
  EXPECT_THAT(ranked(plan_for(ubuntu22, request)), IsEmpty());
  request.device = "cuda:0,cpu";
  EXPECT_EQ(chosen(plan_for(a100, request)), "2.8.0-cu129");
  const Plan plan = plan_for(ubuntu22, request);
  EXPECT_EQ(chosen(plan), "2.8.0-cpu");
  EXPECT_TRUE(plan.fallback);
  std::string observed;
  for (const Check& check : plan.candidates[0].checks)
    if (check.requirement.starts_with("device ")) observed = check.observed;
  EXPECT_EQ(observed, "cpu; not cuda:0: flavor cpu has no cuda");
  request.device = "cuda:1";
  EXPECT_EQ(code_of(plan_for(a100, request), "2.8.0-cu129"), "EH-S09");
  request.device = "cpu";
  EXPECT_EQ(chosen(plan_for(a100, request)), "2.8.0-cpu");
  request.device = "mps";
  EXPECT_EQ(chosen(plan_for(mac_machine(), request)), "2.0.1-mps");
}

// The constraints of the remedies: one that excluded no build is not to be dropped.
TEST(RequestTest, WhenNothingFitsTheBlockingConstraintsAreNamed) {
  const auto constraints = [](const Plan& plan) {
    std::vector<std::string> keys;
    for (const Key key :
         {Key::unknown_version, Key::of_other_versions, Key::of_other_flavors, Key::for_other_devices})
      if (plan.diagnosis && !plan.diagnosis->value(key).empty()) keys.emplace_back(text_of(key));
    return keys;
  };
  EXPECT_THAT(constraints(plan_for(linux_machine("2.5", "3.4.13"))), IsEmpty());
  Request request = request_for();
  request.flavor = "cu126";
  request.require = true;
  request.flavor_source = "ENGINEHOST_FLAVOR";
  EXPECT_THAT(constraints(plan_for(ubuntu22, request)), ElementsAre("of_other_flavors"));
  EXPECT_EQ(plan_for(ubuntu22, request).diagnosis->value(Key::demanded_by), "ENGINEHOST_FLAVOR");
  request.flavor_source.clear();
  EXPECT_EQ(plan_for(ubuntu22, request).diagnosis->value(Key::demanded_by), "") << "known to nobody";
  request.version = "2.8";
  EXPECT_THAT(constraints(plan_for(ubuntu22, request)), ElementsAre("of_other_versions", "of_other_flavors"));
  request = request_for();
  request.device = "mps";
  EXPECT_THAT(constraints(plan_for(ubuntu22, request)), ElementsAre("for_other_devices"));
}

TEST(RequestTest, AVersionThatNobodyHasIsNamedWithTheNearest) {
  Request request = request_for();
  const auto nearest_to = [&](const char* version) {
    request.version = version;
    const Plan plan = plan_for(a100, request);
    if (!plan.diagnosis) return std::string("something fits");
    EXPECT_EQ(plan.diagnosis->value(Key::unknown_version), version);
    EXPECT_EQ(plan.diagnosis->value(Key::of_other_versions), "");
    return std::string(plan.diagnosis->value(Key::nearest_version));
  };
  EXPECT_EQ(nearest_to("2.0.9"), "2.0.1");
  EXPECT_EQ(nearest_to("2.0.1.5"), "2.0.1");
  EXPECT_EQ(nearest_to("9"), "2.8.0");
  EXPECT_EQ(nearest_to("0.4"), "1.13.1");
  EXPECT_EQ(nearest_to(">=2.1,<2.2"), "2.0.1");
}

TEST(RequestTest, TheNearestVersionIsOneThatFitsHere) {
  Request request = request_for();
  const auto versions_of = [&](const Platform& machine, const char* version) {
    request.version = version;
    const Plan plan = plan_for(machine, request);
    EXPECT_TRUE(plan.diagnosis && plan.diagnosis->value(Key::build).empty()) << "of another version";
    return plan.diagnosis ? plan.diagnosis->values(Key::version_here) : std::vector<std::string>();
  };
  // Its C library is too old for every build of 2.8.0.
  const Platform old = linux_machine("2.17", "3.4.19");
  const std::vector<std::string> here = versions_of(old, "9");
  ASSERT_FALSE(here.empty());
  EXPECT_THAT(here, testing::Not(testing::Contains("2.8.0")));
  EXPECT_EQ(plan_for(old, request).diagnosis->value(Key::nearest_version), here.front());
  EXPECT_THAT(versions_of(a100, "9"), testing::Contains("2.8.0"));
  request.flavor = "cu118";
  request.require = true;
  for (const std::string& version : versions_of(a100, "9")) {
    request.version = version;
    EXPECT_EQ(plan_for(a100, request).diagnosis, std::nullopt) << version;
  }
}

TEST(RequestTest, AnUnknownEngineIsNamedWithTheNearestOne) {
  const Plan plan = plan_for(a100, "pytorsh");
  ASSERT_TRUE(plan.diagnosis);
  EXPECT_EQ(plan.diagnosis->code, "EH-S02");
  EXPECT_EQ(plan.diagnosis->value(Key::nearest), "pytorch");
  EXPECT_THAT(plan.diagnosis->values(Key::known), ElementsAre("onnxruntime", "pytorch", "reference"));
}

TEST(AvailabilityTest, WithdrawnUndigestedAndUncompiledBuildsAreListedAndNotTried) {
  const Plan plan = plan_for(with_gpus(ubuntu22, "580.82.07", "13.0", {{"RTX 4090", "8.9"}}), "onnxruntime");
  EXPECT_EQ(code_of(plan, "1.27.0-cu13"), "EH-S10");
  EXPECT_EQ(find(plan, "1.27.0-cu13")->verdict, Verdict::unavailable);
  EXPECT_EQ(find(plan, "1.27.0-cu13")->diagnosis()->value(Key::component),
            "onnxruntime-runtime-1.27.0-cu13-linux-x86_64");
  EXPECT_EQ(code_of(plan, "1.21.9-cpu"), "EH-S11");
  EXPECT_EQ(find(plan, "1.21.9-cpu")->diagnosis()->value(Key::reason), "crashes in Conv");
  EXPECT_EQ(chosen(plan), "1.22.0-cu12");

  manifest::Catalog with_uncompiled = catalog();
  auto uncompiled = std::make_shared<manifest::Build>(build_named("reference-1.0.0-cpu-linux-x86_64"));
  uncompiled->not_built = "no adapter for it yet";
  with_uncompiled.builds.assign(1, uncompiled);
  const Plan other = decide(ubuntu22, with_uncompiled, {}, request_for("reference"), now);
  ASSERT_TRUE(other.diagnosis);
  EXPECT_EQ(other.diagnosis->code, "EH-S12");
  EXPECT_EQ(other.diagnosis->value(Key::reason), "no adapter for it yet");
}

TEST(AvailabilityTest, OfflineServesInstalledBuildsAndLocalFiles) {
  Request request = request_for("reference");
  request.offline = true;
  EXPECT_EQ(chosen(plan_for(ubuntu22, request)), "1.0.0-cpu")
      << "its only component is a file of a folder repository";
  request.engine = "pytorch";
  const Plan plan = plan_for(ubuntu22, request);
  EXPECT_THAT(ranked(plan), IsEmpty());
  EXPECT_EQ(plan.diagnosis->code, "EH-S13") << "the best build's own reason, not that nothing fits";
}

TEST(HistoryTest, AQuarantinedBuildIsListedAndNotTried) {
  const std::string best = "pytorch-2.8.0-cu129-linux-x86_64";
  for (const history::State state : {history::State::unfit, history::State::blocked,
                                     history::State::quarantined, history::State::disabled}) {
    const Plan plan = plan_for(a100, request_for(), history_with(best, state));
    EXPECT_EQ(chosen(plan), "2.8.0-cu128") << history::name_of(state);
    EXPECT_TRUE(plan.fallback);
    const Candidate* aside = find(plan, "2.8.0-cu129");
    EXPECT_EQ(aside->verdict, state == history::State::disabled ? Verdict::disabled : Verdict::quarantined);
    EXPECT_EQ(aside->diagnosis()->code, "EH-S14");
    EXPECT_EQ(aside->diagnosis()->value(Key::state), history::name_of(state));
    if (state != history::State::disabled) {
      EXPECT_EQ(aside->diagnosis()->value(Key::reason), "libx.so.1 is missing");
    }
    EXPECT_EQ(aside->diagnosis()->value(Key::disabled), state == history::State::disabled ? "by hand" : "");
  }
}

TEST(HistoryTest, AQuarantineEndsWithItsTime) {
  const std::string best = "pytorch-2.8.0-cu129-linux-x86_64";
  EXPECT_EQ(chosen(plan_for(a100, request_for(), history_with(best, history::State::quarantined, now + 1))),
            "2.8.0-cu128");
  EXPECT_EQ(chosen(plan_for(a100, request_for(), history_with(best, history::State::quarantined, now))),
            "2.8.0-cu129");
}

TEST(HistoryTest, ASuspectBuildIsTriedAgain) {
  const auto history = history_with("pytorch-2.8.0-cu129-linux-x86_64", history::State::suspect);
  EXPECT_EQ(chosen(plan_for(a100, request_for(), history)), "2.8.0-cu129");
}

TEST(HistoryTest, ARecordCountsOnlyForTheSameArtifacts) {
  history::History history = history_with("pytorch-2.8.0-cu129-linux-x86_64", history::State::quarantined);
  history.records.begin()->second.artifacts_digest = std::string(64, 'f');
  EXPECT_EQ(chosen(plan_for(a100, request_for(), history)), "2.8.0-cu129") << "the publisher repaired it";
}

TEST(HistoryTest, TheEndOfAQuarantineIsReportedAsATime) {
  const std::string id = "pytorch-2.8.0-cu129-linux-x86_64";
  const Plan plan = plan_for(a100, request_for(), history_with(id, history::State::quarantined, 4102444800));
  EXPECT_EQ(find(plan, "2.8.0-cu129")->diagnosis()->value(Key::retry_after), "2100-01-01T00:00:00Z");
}

TEST(HistoryTest, ForceTriesABuildThatIsQuarantinedOrDoesNotFitFirst) {
  Request request = request_for();
  request.force = "pytorch-2.0.1-cpu-linux-x86_64";
  EXPECT_EQ(chosen(plan_for(a100, request, history_with(request.force, history::State::quarantined))),
            "2.0.1-cpu");
  request.force = "pytorch-2.8.0-cu129-linux-x86_64";
  const Plan plan = plan_for(ubuntu22, request);
  EXPECT_EQ(chosen(plan), "2.8.0-cu129");
  EXPECT_TRUE(plan.candidates.front().forced);
  EXPECT_EQ(ranked(plan).at(1), "2.8.0-cpu") << "if it cannot be opened";
}

TEST(HistoryTest, AnUnusedForcedBuildIsReportedAsAFallback) {
  Request request = request_for();
  request.force = "pytorch-2.8.0-cu129-linux-x86_64";
  EXPECT_FALSE(plan_for(a100, request).forced_in_vain) << "it is the one that is used";
  request.version = "2.0";
  Plan plan = plan_for(ubuntu22, request);
  EXPECT_TRUE(plan.fallback);
  ASSERT_TRUE(plan.forced_in_vain) << "the request excludes it";
  EXPECT_EQ(plan.forced_in_vain->code, "EH-S22");
  EXPECT_FALSE(plan.forced_in_vain->value(Key::reason).empty());
  request.version.clear();
  request.force = "no-such-build";
  plan = plan_for(a100, request);
  EXPECT_TRUE(plan.fallback);
  ASSERT_TRUE(plan.forced_in_vain) << "there is none of that name";
  EXPECT_FALSE(plan.forced_in_vain->value(Key::unknown).empty());
  request.force = "reference-1.0.0-cpu-linux-x86_64";
  plan = plan_for(a100, request);
  EXPECT_FALSE(plan.fallback) << "a build of another engine is another request's";
  EXPECT_FALSE(plan.forced_in_vain);
}

TEST(HistoryTest, ProvenRanksBeforeUnprovenOnlyWhereAllElseIsEqual) {
  const auto history = history_with("pytorch-2.0.1-cpu-linux-x86_64", history::State::proven);
  const Plan plan = plan_for(a100, request_for(), history);
  EXPECT_EQ(chosen(plan), "2.8.0-cu129") << "a newly installed driver wins over a proven cpu build";
  EXPECT_TRUE(find(plan, "2.0.1-cpu")->proven);
  EXPECT_FALSE(find(plan, "2.8.0-cpu")->proven);
}

TEST(HistoryTest, WhenAllFittingBuildsAreQuarantinedThatIsTheDiagnosis) {
  const Plan plan = plan_for(ubuntu22, request_for("reference"),
                             history_with("reference-1.0.0-cpu-linux-x86_64", history::State::quarantined));
  ASSERT_TRUE(plan.diagnosis);
  EXPECT_EQ(plan.diagnosis->code, "EH-S14");
  EXPECT_EQ(plan.diagnosis->value(Key::build), "reference-1.0.0-cpu-linux-x86_64");
}

TEST(UnknownTest, ATimeOutIsNotNoGpuAndKnownRanksBeforeUnknown) {
  Platform machine = a100;
  machine.cuda.driver_cuda = Fact<std::string>::unknown("the driver did not answer within 15 s");
  machine.cuda.driver = Fact<std::string>::unknown("not readable");
  machine.cuda.devices = Fact<std::vector<CudaDevice>>::unknown("the driver did not answer within 15 s");
  const Plan plan = plan_for(machine);
  EXPECT_EQ(chosen(plan), "2.8.0-cpu");
  const Candidate* gpu = find(plan, "2.8.0-cu129");
  EXPECT_EQ(gpu->verdict, Verdict::fits) << "it may fit: listed after what is known to fit";
  EXPECT_GT(gpu->rank, find(plan, "2.0.1-cpu")->rank);
  EXPECT_THAT(decisive_check(*gpu)->source, HasSubstr("did not answer"));
}

TEST(UnknownTest, TheDriversVersionReplacesAMissingAnswer) {
  Platform machine = a100;
  machine.cuda.driver_cuda = Fact<std::string>::unknown("time-out");
  EXPECT_EQ(chosen(plan_for(machine)), "2.8.0-cu129") << "535 is CUDA 12.2, and the devices are known";
}

TEST(UnknownTest, ARequirementNobodyKnowsIsUnknown) {
  auto build = std::make_shared<manifest::Build>(build_named("reference-1.0.0-cpu-linux-x86_64"));
  build->requires_.unknown.emplace_back("npu", R"({"tops":40})");
  manifest::Catalog one;
  one.builds.push_back(build);
  const Plan plan = decide(ubuntu22, one, {}, request_for("reference"), now);
  EXPECT_EQ(plan.candidates[0].verdict, Verdict::chosen);
  EXPECT_EQ(decisive_check(plan.candidates[0])->requirement, R"(npu {"tops":40})");
}

TEST(CudaTest, DecidesCuda118OnEveryDriverBranch) {
  // driver, its CUDA, verdict for cu118 with code for 8.6
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"440.33", "10.2", "EH-G03"}, {"450.51.06", "11.0", "EH-G03"}, {"450.80.02", "11.0", ""},
      {"470.223.02", "11.4", ""},   {"520.61.05", "11.8", ""},       {"525.60.13", "12.0", ""},
      {"535.104.05", "12.2", ""},   {"580.65.06", "13.0", ""}};
  for (const auto& [driver, cuda, code] : rows)
    EXPECT_EQ(code_of(plan_for(with_gpus(ubuntu20, driver, cuda, {{"RTX 3080", "8.6"}})), "2.0.1-cu118"),
              code)
        << driver;
  const Plan plan = plan_for(with_gpus(ubuntu20, "440.33", "10.2", {{"RTX 3080", "8.6"}}));
  EXPECT_EQ(find(plan, "2.0.1-cu118")->diagnosis()->value(Key::minimum_driver), "450.80.02");
}

TEST(CudaTest, WindowsHasItsOwnDriverNumbers) {
  EXPECT_EQ(code_of(plan_for(with_gpus(windows_machine(), "452.06", "11.0", {{"RTX 3080", "8.6"}})),
                    "2.0.1-cu118", "windows"),
            "EH-G03");
  EXPECT_EQ(code_of(plan_for(with_gpus(windows_machine(), "452.39", "11.0", {{"RTX 3080", "8.6"}})),
                    "2.0.1-cu118", "windows"),
            "");
}

TEST(CudaTest, PtxIsNotCompiledWhereThatIsSwitchedOff) {
  Platform machine = with_gpus(ubuntu22, "580.65.06", "13.0", {{"RTX 6090", "13.0"}});
  EXPECT_EQ(code_of(plan_for(machine), "2.8.0-cu129"), "");
  machine.loader_environment =
      Fact<platform::Variables>::known({{"CUDA_DISABLE_PTX_JIT", "1"}}, "environment");
  EXPECT_EQ(code_of(plan_for(machine), "2.8.0-cu129"), "EH-G06");
}

TEST(CudaTest, ReadsTheNewestCudaOfADriver) {
  EXPECT_EQ(cuda_of_driver("535.104.05", false), "12.2");
  EXPECT_EQ(cuda_of_driver("525.147.05", false), "12.0");
  EXPECT_EQ(cuda_of_driver("522.06", true), "11.8");
  EXPECT_EQ(cuda_of_driver("528.33", true), "12.0");
  EXPECT_EQ(cuda_of_driver("390.157", false), "");
}

// CUDA 13.1 release notes, table 3: the driver packaged with each toolkit's general release. Empty: none.
TEST(CudaTest, AToolkitsDriverIsTheOneOfItsFirstGeneralRelease) {
  const std::tuple<const char*, const char*, const char*> packaged[] = {
      {"13.1", "590.44.01", ""},       {"13.0", "580.65.06", ""},       {"12.9", "575.51.03", "576.02"},
      {"12.8", "570.26", "570.65"},    {"12.6", "560.28.03", "560.76"}, {"12.5", "555.42.02", "555.85"},
      {"12.4", "550.54.14", "551.61"}, {"12.3", "545.23.06", "545.84"}, {"12.2", "535.54.03", "536.25"},
      {"12.1", "530.30.02", "531.14"}, {"12.0", "525.60.13", "527.41"}, {"11.8", "520.61.05", "520.06"},
      {"11.7", "515.43.04", "516.01"}, {"11.6", "510.39.01", "511.23"}, {"11.5", "495.29.05", "496.04"},
      {"11.4", "470.42.01", "471.11"}, {"11.3", "465.19.01", "465.89"}, {"11.2", "460.27.03", "460.82"},
      {"11.1", "455.23", "456.38"},    {"11.0", "450.51.05", "451.48"}, {"10.2", "440.33", "441.22"},
      {"10.1", "418.39", "418.96"},    {"10.0", "410.48", "411.31"}};
  for (const auto& [toolkit, linux_driver, windows_driver] : packaged) {
    EXPECT_EQ(native_driver(toolkit, false), linux_driver);
    EXPECT_EQ(cuda_of_driver(linux_driver, false), toolkit);
    if (*windows_driver == '\0') continue;
    EXPECT_EQ(native_driver(toolkit, true), windows_driver);
    EXPECT_EQ(cuda_of_driver(windows_driver, true), toolkit);
  }
  EXPECT_EQ(cuda_of_driver("450.51.04", false), "10.2");
  EXPECT_EQ(cuda_of_driver("451.47", true), "10.2");
  EXPECT_EQ(cuda_of_driver("430.64", false), "10.1");
  EXPECT_EQ(cuda_of_driver("418.38", false), "10.0");
  EXPECT_EQ(cuda_of_driver("410.47", false), "");
}

// Table 2 of the same notes; it has the branch for Windows and CUDA 13, but not the number.
TEST(CudaTest, KnowsTheOldestDriverOfEachMajorVersion) {
  EXPECT_EQ(minor_version_driver(11, false), "450.80.02");
  EXPECT_EQ(minor_version_driver(11, true), "452.39");
  EXPECT_EQ(minor_version_driver(12, false), "525.60.13");
  EXPECT_EQ(minor_version_driver(12, true), "528.33");
  EXPECT_EQ(minor_version_driver(13, false), "580.65.06");
  EXPECT_EQ(minor_version_driver(13, true), "580");
  EXPECT_EQ(minor_version_driver(10, false), "");
}

std::vector<int> visible(const std::string& value) {
  Platform machine = with_gpus(ubuntu22, "535", "12.2", {{"a", "8.0"}, {"b", "8.0"}, {"c", "8.0"}});
  machine.cuda.visible_devices = Fact<std::string>::known(value, "environment");
  std::vector<int> indices;
  for (const CudaDevice* device : visible_devices(machine.cuda).devices) indices.push_back(device->index);
  return indices;
}

TEST(VisibleDevicesTest, FollowTheRulesOfTheCudaProgrammingGuide) {
  EXPECT_THAT(visible("2,0"), ElementsAre(2, 0));
  EXPECT_THAT(visible("0,2,-1,1"), ElementsAre(0, 2)) << "cut at the first invalid entry";
  EXPECT_THAT(visible("-1"), IsEmpty());
  EXPECT_THAT(visible(""), IsEmpty());
  EXPECT_THAT(visible("1,9,0"), ElementsAre(1));
  EXPECT_THAT(visible("0,0"), IsEmpty()) << "a device named twice makes CUDA refuse the list";
  EXPECT_THAT(visible("GPU-2"), ElementsAre(2));
  EXPECT_THAT(visible("GPU-1abc, GPU-0"), ElementsAre(1, 0));
  EXPECT_THAT(visible("GPU-"), IsEmpty()) << "more than one device begins so";
  EXPECT_THAT(visible("two"), IsEmpty());
}

TEST(VisibleDevicesTest, UndecidableListsAreUncertain) {
  Platform machine = a100;
  machine.cuda.visible_devices = Fact<std::string>::known("MIG-1/2/3", "environment");
  EXPECT_EQ(find(plan_for(machine), "2.8.0-cu129")->verdict, Verdict::fits);
  EXPECT_EQ(decisive_check(*find(plan_for(machine), "2.8.0-cu129"))->result, Answer::unknown);
}

}  // namespace
}  // namespace enginehost::resolve
