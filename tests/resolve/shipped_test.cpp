// Decisions on the shipped manifests for recorded machines. Each of them was wrong once.
#include "tests/resolve/shipped.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/files.hpp"
#include "host/explain/explain.hpp"
#include "host/manifest/repository.hpp"
#include "host/resolve/cuda.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"
#include "host/resolve/plan.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::resolve {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t moment = 1'795'000'000;

Plan plan_of(const platform::Platform& machine, const std::string& engine, const std::string& device = {}) {
  Request request;
  request.engine = engine;
  request.device = device;
  return decide(machine, shipped(), {}, request, moment);
}

const Candidate& in(const Plan& plan, const std::string& build) {
  for (const Candidate& candidate : plan.candidates)
    if (candidate.build->id == build) return candidate;
  ADD_FAILURE() << build << " is not in the plan";
  return plan.candidates.front();
}

// The code and the reason of the check that decides; empty if nothing is against the build.
std::string against(const Plan& plan, const std::string& build) {
  const auto check = decisive_check(in(plan, build));
  return check ? std::string(text_of(check->code)) + " " + check->requirement + ", found " + check->observed
               : "";
}

std::string first(const Plan& plan) {
  return plan.candidates.front().rank == 1 ? plan.candidates.front().build->id : "";
}

std::string unused_in(const std::string& machine, const std::string& engine) {
  const platform::Platform platform = machine_called(machine);
  const Plan plan = plan_of(platform, engine);
  if (first(plan).empty()) return "nothing fits";
  const auto idle = idle_accelerator(plan, platform, *plan.candidates.front().build);
  return idle ? std::string(idle->value(Key::accelerator)) + ": " + std::string(idle->value(Key::reason))
              : "";
}

// The wheel's own libraries have PTX 3.7, its cuDNN has none and nothing past 9.0.
TEST(ShippedDecisions, BlackwellDoesNotGetCuda118OnWindows) {
  const Plan plan = plan_of(machine_called("windows11-cudart65-driver595-rtx5090"), "pytorch");
  EXPECT_THAT(against(plan, "pytorch-2.0.1-cu118-windows-x86_64"), testing::StartsWith("EH-G05 "));
}

TEST(ShippedDecisions, MpsBeginsWithMacOs12Point3) {
  const Plan plan = plan_of(machine_called("macos12-arm64-m1"), "pytorch");
  EXPECT_EQ(first(plan), "");
  EXPECT_EQ(against(plan, "pytorch-2.0.1-mps-macos-arm64"), "EH-S06 system version >= 12.3, found 12.0");
  EXPECT_EQ(against(plan, "pytorch-1.13.1-mps-macos-arm64"), "EH-S06 system version >= 12.3, found 12.0");
}

TEST(ShippedDecisions, ABuildForAllVisibleGpusComesFirst) {
  const platform::Platform machine = machine_called("linux-ubuntu2404-driver580-gtx1080-rtx4090");
  const Plan plan = plan_of(machine, "onnxruntime");
  EXPECT_EQ(first(plan), "onnxruntime-1.26.0-cu128-linux-x86_64");
  const auto newer = newer_passed_over(plan, plan.candidates.front());
  ASSERT_GE(newer.size(), 1u);
  EXPECT_THAT(newer.front().candidate->build->id + ": " + newer.front().reason,
              testing::MatchesRegex("onnxruntime-1\\.3.*"));
  for (const PassedOver& one : newer)
    if (one.candidate->build->flavor == "cu130") EXPECT_EQ(one.reason, "no code for compute 6.1");
  // A device that is named decides alone.
  EXPECT_EQ(first(plan_of(machine, "onnxruntime", "cuda:1")), "onnxruntime-1.31.1-cu130-linux-x86_64");
  EXPECT_EQ(first(plan_of(machine, "onnxruntime", "cuda:0")), "onnxruntime-1.26.0-cu128-linux-x86_64");
  const Plan first_card = plan_of(machine, "onnxruntime", "cuda:0,cpu");
  EXPECT_THAT(against(first_card, "onnxruntime-1.27.0-cu130-linux-x86_64"),
              AllOf(testing::StartsWith("EH-G05 "), HasSubstr("GTX 1080"), Not(HasSubstr("4090"))));
}

// The memory of the named device counts, not that of another one.
TEST(ShippedDecisions, TheMemoryOfTheNamedGpuDecides) {
  const platform::Platform machine = machine_called("linux-ubuntu2404-driver580-gtx1080-rtx4090");
  manifest::Catalog large = shipped();
  for (auto& build : large.builds) {
    if (build->id != "onnxruntime-1.26.0-cu128-linux-x86_64") continue;
    auto changed = std::make_shared<manifest::Build>(*build);
    changed->requires_.device_memory = std::uint64_t{16} << 30;
    build = changed;
  }
  Request request;
  request.engine = "onnxruntime";
  const std::string build = "onnxruntime-1.26.0-cu128-linux-x86_64";
  for (const auto& [device, code] :
       {std::pair("cuda:0", "EH-S08"), std::pair("cuda:1", ""), std::pair("", "")}) {
    request.device = device;
    EXPECT_EQ(decisive_check(in(decide(machine, large, {}, request, moment), build))->code, code) << device;
  }
}

// Nobody can do anything about a build that has no plugin; people can install a driver or another system.
TEST(ShippedDecisions, AReasonThatPeopleCanActUponComesFirst) {
  platform::Platform machine = machine_called("linux-ubuntu2004-driver470-gtx1080ti");
  manifest::Catalog floor = shipped();
  for (auto& build : floor.builds) {
    if (build->engine != "onnxruntime" || build->os != "linux" || !build->not_built.empty()) continue;
    auto changed = std::make_shared<manifest::Build>(*build);
    changed->requires_.glibc = ">=2.34";  // as a plugin that was compiled on a newer system
    build = changed;
  }
  Request request;
  request.engine = "onnxruntime";
  const Plan plan = decide(machine, floor, {}, request, moment);
  ASSERT_TRUE(plan.diagnosis);
  EXPECT_EQ(plan.diagnosis->code, "EH-S01");
  EXPECT_EQ(plan.diagnosis->value(Key::first_code), "EH-L08");
  EXPECT_EQ(plan.diagnosis->value(Key::reason), "needs glibc >= 2.34, found 2.31");
  const auto nearest = nearest_build(plan);
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->reason, "needs glibc >= 2.34");
}

// NVIDIA's table: CUDA 12 with minor-version compatibility needs 528.33 on Windows, 525.60.13 on Linux.
TEST(ShippedDecisions, Windows527IsTooOldForCuda128) {
  const Plan plan = plan_of(machine_called("windows11-driver527-rtx3060"), "onnxruntime");
  EXPECT_THAT(against(plan, "onnxruntime-1.24.4-cu128-windows-x86_64"), testing::StartsWith("EH-G03 "));
  const auto checks = in(plan, "onnxruntime-1.24.4-cu128-windows-x86_64").diagnosis();
  ASSERT_TRUE(checks);
  EXPECT_EQ(checks->value(Key::minimum_driver), "528.33");
}

// docs.nvidia.com/cuda/cuda-toolkit-release-notes, table 3: the driver that each toolkit came with, by
// release.
TEST(ShippedDecisions, EachDriverOfNvidiasTableRunsItsToolkit) {
  struct Row {
    const char *toolkit, *linux_driver, *windows_driver;
  };
  for (const Row& row :
       std::initializer_list<Row>{{"13.1", "590.44.01", nullptr},   {"13.0", "580.95.05", nullptr},
                                  {"13.0", "580.82.07", nullptr},   {"13.0", "580.65.06", nullptr},
                                  {"12.9", "575.57.08", "576.57"},  {"12.9", "575.51.03", "576.02"},
                                  {"12.8", "570.124.06", "572.61"}, {"12.8", "570.26", "570.65"},
                                  {"12.6", "560.35.05", "561.17"},  {"12.6", "560.35.03", "560.94"},
                                  {"12.6", "560.28.03", "560.76"},  {"12.5", "555.42.06", "555.85"},
                                  {"12.5", "555.42.02", "555.85"},  {"12.4", "550.54.15", "551.78"},
                                  {"12.4", "550.54.14", "551.61"},  {"12.3", "545.23.08", "546.12"},
                                  {"12.3", "545.23.06", "545.84"},  {"12.2", "535.104.05", "537.13"},
                                  {"12.2", "535.86.09", "536.67"},  {"12.2", "535.54.03", "536.25"},
                                  {"12.1", "530.30.02", "531.14"},  {"12.0", "525.85.12", "528.33"},
                                  {"12.0", "525.60.13", "527.41"},  {"11.8", "520.61.05", "520.06"},
                                  {"11.7", "515.48.07", "516.31"},  {"11.7", "515.43.04", "516.01"},
                                  {"11.6", "510.47.03", "511.65"},  {"11.6", "510.39.01", "511.23"},
                                  {"11.5", "495.29.05", "496.13"},  {"11.5", "495.29.05", "496.04"},
                                  {"11.4", "470.82.01", "472.50"},  {"11.4", "470.57.02", "471.41"},
                                  {"11.4", "470.42.01", "471.11"},  {"11.3", "465.19.01", "465.89"},
                                  {"11.2", "460.32.03", "461.33"},  {"11.2", "460.32.03", "461.09"},
                                  {"11.2", "460.27.03", "460.82"},  {"11.1", "455.32", "456.81"},
                                  {"11.1", "455.23", "456.38"},     {"11.0", "450.51.06", "451.82"},
                                  {"11.0", "450.51.05", "451.48"},  {"10.2", "440.33", "441.22"},
                                  {"10.1", "418.39", "418.96"},     {"10.0", "410.48", "411.31"}}) {
    EXPECT_EQ(cuda_of_driver(row.linux_driver, false), row.toolkit) << row.linux_driver;
    if (row.windows_driver != nullptr) {
      EXPECT_EQ(cuda_of_driver(row.windows_driver, true), row.toolkit) << row.windows_driver;
    }
  }
  for (const auto& [major, linux_driver, windows_driver] :
       {std::tuple(11, "450.80.02", "452.39"), std::tuple(12, "525.60.13", "528.33"),
        std::tuple(13, "580.65.06", "580")}) {
    EXPECT_EQ(minor_version_driver(major, false), linux_driver);
    EXPECT_EQ(minor_version_driver(major, true), windows_driver);
  }
}

TEST(ShippedDecisions, AnUnansweredDriverQueryIsTheReason) {
  EXPECT_EQ(
      unused_in("linux-driver-timed-out", "onnxruntime"),
      "NVIDIA hardware (10de:20b2 x 4): it is not known whether code for a visible GPU: 6.0 7.0 7.5 8.0 8.6 "
      "9.0 9.0+PTX holds (the driver did not answer in 15 s)");
}

TEST(ShippedDecisions, AnUnusedAcceleratorOfAnyMakerIsMentioned) {
  const std::string none = ": no build of tensorflow for this system uses it",
                    named = ": a build that may use it is opened only if the request names its flavor ";
  EXPECT_EQ(unused_in("linux-rocm62-rx7900xtx", "tensorflow"), "AMD gfx1100" + none);
  EXPECT_EQ(unused_in("linux-rocm62-rx7900xtx", "onnxruntime"), "AMD gfx1100" + named + "(webgpu)");
  EXPECT_EQ(unused_in("windows11-rx7900xtx", "onnxruntime"), "AMD 1002:744c" + named + "(dml, webgpu)");
  EXPECT_EQ(unused_in("linux-ubuntu2404-arc-a770", "onnxruntime"),
            "Intel 8086:56a0" + named + "(openvino, webgpu)");
  EXPECT_EQ(unused_in("macos-arm64-m2", "onnxruntime"), "Apple M2" + named + "(coreml, webgpu)");
  EXPECT_EQ(unused_in("linux-ubuntu2404-arc-a770", "reference"), "") << "it computes on processors only";
  EXPECT_EQ(unused_in("linux-rhel8-no-gpu", "onnxruntime"), "");
  EXPECT_EQ(unused_in("linux-ubuntu2404-driver580-rtx4090", "onnxruntime"), "") << "it is used";
}

// A machine without such a GPU would download more for nothing, and no GPU ever ran it in the tests.
TEST(ShippedDecisions, AnExecutionProviderHasToBeRequested) {
  const platform::Platform arc = machine_called("linux-ubuntu2404-arc-a770");
  const std::string openvino = "onnxruntime-1.27.0-openvino-linux-x86_64";
  const Plan usual = plan_of(arc, "onnxruntime");
  EXPECT_EQ(first(usual), "onnxruntime-1.32.0-cpu-linux-x86_64");
  EXPECT_EQ(against(usual, openvino), "EH-S26 a request for flavor openvino, found no flavor");
  EXPECT_EQ(first(plan_of(arc, "onnxruntime", "openvino")), openvino);
  EXPECT_EQ(first(plan_of(arc, "onnxruntime", "openvino:0,cpu")), openvino);
  EXPECT_EQ(first(plan_of(arc, "onnxruntime", "cpu")), "onnxruntime-1.32.0-cpu-linux-x86_64");
  Request request;
  request.engine = "onnxruntime";
  request.flavor = "openvino";
  EXPECT_EQ(first(decide(arc, shipped(), {}, request, moment)), openvino);
  request.flavor.clear();
  request.force = openvino;
  EXPECT_EQ(first(decide(arc, shipped(), {}, request, moment)), openvino);
  request.force.clear();
  request.version = "1.30.0";
  manifest::Catalog providers = shipped();
  std::erase_if(providers.builds, [](const auto& build) {
    return build->version == "1.30.0" && build->engine == "onnxruntime" && build->flavor != "ggml";
  });
  const Plan only_providers = decide(arc, providers, {}, request, moment);
  ASSERT_TRUE(only_providers.diagnosis);
  EXPECT_EQ(only_providers.diagnosis->code, "EH-S01");
  EXPECT_EQ(only_providers.diagnosis->value(Key::to_be_named), "ggml");
}

TEST(ShippedDecisions, EachSystemHasTheProvidersOfItsGpus) {
  const auto gets = [](const std::string& machine, const std::string& device) {
    return first(plan_of(machine_called(machine), "onnxruntime", device));
  };
  EXPECT_EQ(gets("windows11-rx7900xtx", "dml"), "onnxruntime-1.24.4-dml-windows-x86_64");
  EXPECT_EQ(gets("windows11-rx7900xtx", "webgpu"), "onnxruntime-1.27.0-webgpu-windows-x86_64");
  EXPECT_EQ(gets("macos-arm64-m2", "coreml"), "onnxruntime-1.27.0-coreml-macos-arm64");
  EXPECT_EQ(gets("macos-arm64-m2", "ggml"), "onnxruntime-1.30.0-ggml-macos-arm64");
  EXPECT_EQ(gets("linux-rocm62-rx7900xtx", "webgpu"), "onnxruntime-1.27.0-webgpu-linux-x86_64");
  EXPECT_EQ(gets("linux-rocm62-rx7900xtx", "dml"), "") << "it is for Windows";
  const Plan listed =
      plan_of(machine_called("linux-ubuntu2404-driver580-rtx4090"), "onnxruntime", "nv-tensorrt-rtx");
  EXPECT_EQ(first(listed), "");
  EXPECT_THAT(against(listed, "onnxruntime-1.27.0-nv-tensorrt-rtx-linux-x86_64"), HasSubstr("EH-S12"));
}

// An update of the driver would not help: no build of 2.11.0 has code for the card.
TEST(ShippedDecisions, NoDriverIsNeededForABuildWithoutCodeForTheCard) {
  const Plan plan = plan_of(machine_called("linux-ubuntu2004-driver470-gtx1080ti"), "pytorch");
  EXPECT_THAT(against(plan, "pytorch-2.11.0-cu130-linux-x86_64"), testing::StartsWith("EH-G05 "));
  EXPECT_THAT(against(plan, "pytorch-2.8.0-cu128-linux-x86_64"), testing::StartsWith("EH-G05 "));
  EXPECT_THAT(against(plan, "pytorch-2.8.0-cu126-linux-x86_64"), testing::StartsWith("EH-G03 "));
  std::vector<std::string> newer;
  for (const PassedOver& one : newer_passed_over(plan, plan.candidates.front()))
    newer.push_back(one.candidate->build->version + " " + one.candidate->build->flavor + ": " + one.reason);
  EXPECT_THAT(newer,
              ElementsAre("2.15.0 cpu: for the processor only", "2.14.1 cpu: for the processor only",
                          "2.13.0 cpu: for the processor only", "2.12.1 cpu: for the processor only",
                          "2.11.0 cpu: for the processor only", "2.10.0 cu128: no code for compute 6.1",
                          "2.9.1 cu128: no code for compute 6.1", "2.8.0 cu126: needs driver 525.60.13"));
}

// Payloads and adapters need glibc 2.28 and GLIBCXX 3.4.25 at most.
TEST(ShippedDecisions, OlderSystemsRunTheBuildsForTheProcessor) {
  for (const char* name : {"linux-ubuntu2004-driver470-gtx1080ti", "linux-rhel8-no-gpu"}) {
    const platform::Platform machine = machine_called(name);
    const char* const of = machine.cuda.driver.is_known() ? "index" : "stand-ins";
    EXPECT_EQ(first(plan_of(machine, "pytorch", "cpu")), std::string("pytorch-2.15.0-cpu-linux-x86_64-") + of)
        << name;
    EXPECT_EQ(first(plan_of(machine, "onnxruntime", "cpu")), "onnxruntime-1.32.0-cpu-linux-x86_64") << name;
    EXPECT_EQ(first(plan_of(machine, "tensorflow", "cpu")), "tensorflow-2.21.0-cpu-linux-x86_64") << name;
  }
}

// On every recorded machine: both builds of a version are ranked, one after the other, by the driver alone.
// The installed one is taken where nothing can be fetched.
TEST(ShippedDecisions, StandInsAreForMachinesWithoutNvidiasDriver) {
  int with_driver = 0, without = 0;
  for (const std::string& name : recorded_machines()) {
    const platform::Platform machine = machine_called(name);
    if (machine.os.value() != "linux" || machine.arch.value() != "x86_64") continue;
    // The container shows the kernel's driver and lacks the driver's libraries.
    const bool driver = name != "linux-container-without-gpus" &&
                        (machine.cuda.driver.is_known() || machine.cuda.driver_cuda.is_known());
    const Plan plan = plan_of(machine, "pytorch", "cpu");
    for (const std::string version : {"2.15.0", "2.11.0", "2.0.1"}) {
      const std::string base = "pytorch-" + version + "-cpu-linux-x86_64-";
      int stand_ins = 0, itself = 0;
      for (const Candidate& candidate : plan.candidates) {
        if (candidate.build->id == base + "stand-ins") stand_ins = candidate.rank;
        if (candidate.build->id == base + "index") itself = candidate.rank;
      }
      EXPECT_EQ(stand_ins == 0, itself == 0) << name << " " << version << ": the same requirements";
      if (stand_ins == 0) continue;
      EXPECT_EQ(driver ? stand_ins - itself : itself - stand_ins, 1) << name << " " << version;
      ++(driver ? with_driver : without);
      Request request;
      request.engine = "pytorch";
      request.version = version;
      request.offline = true;
      request.installed = {base + "stand-ins"};
      EXPECT_EQ(first(decide(machine, shipped(), {}, request, 0)), base + "stand-ins") << name;
    }
  }
  EXPECT_GT(with_driver, 0);
  EXPECT_GT(without, 0);
}

// Its libstdc++ has GLIBCXX 3.4.19, as the payload asks for, but an adapter needs a newer one.
TEST(ShippedDecisions, TheAdapterDecidesToo) {
  const platform::Platform machine = machine_called("linux-centos7-no-gpu");
  EXPECT_EQ(against(plan_of(machine, "pytorch"), "pytorch-2.0.1-cpu-linux-x86_64-index"),
            "EH-L09 GLIBCXX >= 3.4.22, found 3.4.19");
  EXPECT_THAT(first(plan_of(machine, "reference")), testing::StartsWith("reference-"));
}

TEST(ShippedDecisions, NewerVersionsAreReportedWithTheirReasons) {
  const Plan plan = plan_of(machine_called("linux-laptop-toolkit129-driver535-rtx4060"), "pytorch");
  EXPECT_EQ(first(plan), "pytorch-2.10.0-cu128-linux-x86_64");
  std::vector<std::string> newer;
  for (const PassedOver& one : newer_passed_over(plan, plan.candidates.front()))
    newer.push_back(one.candidate->build->id + ": " + std::string(text_of(one.code)) + " " + one.reason);
  EXPECT_THAT(newer, testing::Contains("pytorch-2.11.0-cu130-linux-x86_64: EH-G03 needs driver 580.65.06"));
}

TEST(ShippedDecisions, ForceOpensWhatTheMachineRejects) {
  const platform::Platform machine = machine_called("linux-laptop-toolkit129-driver535-rtx4060");
  Request request;
  request.engine = "pytorch";
  request.force = "pytorch-2.11.0-cu130-linux-x86_64";
  const Plan plan = decide(machine, shipped(), {}, request, moment);
  EXPECT_EQ(first(plan), request.force);
  EXPECT_FALSE(plan.forced_in_vain);
  const Candidate& forced = plan.candidates.front();
  EXPECT_TRUE(forced.forced);
  EXPECT_TRUE(to_json(forced)["forced"].as_bool());
  std::vector<std::string> overridden;
  for (const Check& check : forced.checks)
    if (check.overridden) overridden.push_back(std::string(text_of(check.code)));
  EXPECT_THAT(overridden, ElementsAre("EH-G03"));
  EXPECT_THAT(describe_plan(plan, explain::one_line),
              HasSubstr("chosen       forced, although it needs NVIDIA driver"));
  EXPECT_FALSE(plan.candidates[1].forced) << "only the named build";
}

// The request's other parts stay, and so does whether the build can be had.
TEST(ShippedDecisions, ForceOverridesTheMachineOnly) {
  const platform::Platform machine = machine_called("linux-laptop-toolkit129-driver535-rtx4060");
  const std::string build = "pytorch-2.11.0-cu130-linux-x86_64";
  const auto code_of = [&](auto change, auto ask) {
    manifest::Catalog catalog = shipped();
    for (auto& one : catalog.builds) {
      if (one->id != build) continue;
      auto changed = std::make_shared<manifest::Build>(*one);
      change(*changed);
      one = changed;
    }
    Request request;
    request.engine = "pytorch";
    request.force = build;
    ask(request);
    const Plan plan = decide(machine, catalog, {}, request, moment);
    EXPECT_TRUE(plan.forced_in_vain);
    return decisive_check(in(plan, build))->code;
  };
  const auto same = [](auto&) {};
  EXPECT_EQ(code_of([](manifest::Build& one) { one.blocked = "stolen key"; }, same), "EH-M14");
  EXPECT_EQ(code_of([](manifest::Build& one) { one.yanked = "wrong results"; }, same), "EH-S11");
  EXPECT_EQ(code_of([](manifest::Build& one) { one.expired = "2020-01-01T00:00:00Z"; }, same), "EH-M12");
  EXPECT_EQ(code_of([](manifest::Build& one) { one.not_built = "no adapter"; }, same), "EH-S12");
  EXPECT_EQ(code_of([](manifest::Build& one) { one.os = "windows"; }, same), "EH-S03");
  EXPECT_EQ(code_of(same, [](Request& request) { request.version = "2.9"; }), "EH-S05");
  EXPECT_EQ(code_of(same,
                    [](Request& request) {
                      request.flavor = "cpu";
                      request.require = true;
                    }),
            "EH-S04");
  EXPECT_EQ(code_of(same, [](Request& request) { request.device = "mps"; }), "EH-S09");
  EXPECT_EQ(code_of(same, [](Request& request) { request.offline = true; }), "EH-S13");
}

TEST(ShippedDecisions, NoTemplateAdvisesPeopleToCompile) {
  for (const auto& build : shipped().builds) {
    const std::string& reason = build->not_built;
    EXPECT_THAT(reason, AllOf(Not(HasSubstr("Compile")), Not(HasSubstr("compile it")),
                              Not(HasSubstr("Unpack")), Not(HasSubstr("Install"))))
        << build->id;
    if (build->engine == "pytorch" && build->os == "windows") {
      EXPECT_EQ(reason, "there is no PyTorch adapter for Windows yet") << build->id;
    }
  }
}

TEST(ShippedDecisions, TheTableMatches) {
  const std::string file = test::source_path("/tests/resolve/decisions.txt");
  const auto known = read_file(file);
  ASSERT_TRUE(known);
  const std::string table = decisions_table();
  // Not EXPECT_EQ: two whole tables would be printed.
  std::size_t at = 0;
  while (at < std::min(table.size(), known->size()) && table[at] == (*known)[at]) ++at;
  const std::size_t begin = table.rfind('\n', at) + 1;
  EXPECT_TRUE(table == *known) << "write it again: ninja decisions_table; first difference:\n"
                               << table.substr(begin, table.find('\n', at) - begin);
}

}  // namespace
}  // namespace enginehost::resolve
