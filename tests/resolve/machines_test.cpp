// Every machine with the catalog: which builds are tried in which order, and why the others are not.
#include "tests/resolve/machines.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace enginehost::resolve {
namespace {

using Reasons = std::map<std::string, std::string>;

struct Expectation {
  std::string name;
  Platform machine;
  std::vector<std::string> ranked;  // of pytorch, in order
  Reasons rejected;                 // every other build for this system, with its code
  friend void PrintTo(const Expectation& one, std::ostream* out) { *out << one.name; }
};

// For each code the builds that it rejects, which is shorter than the reverse.
Reasons because(const std::vector<std::pair<std::string, std::vector<std::string>>>& groups) {
  Reasons reasons;
  for (const auto& [code, builds] : groups)
    for (const std::string& build : builds) reasons[build] = code;
  return reasons;
}

const std::vector<std::string> every_cuda = {"1.13.1-cu117", "2.0.1-cu117", "2.0.1-cu118",
                                             "2.8.0-cu126",  "2.8.0-cu128", "2.8.0-cu129"};
const std::vector<std::string> cuda_11_and_cpu = {"2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117", "2.8.0-cpu",
                                                  "2.0.1-cpu"};

std::vector<Expectation> expectations() {
  std::vector<Expectation> all;
  const auto expect = [&](std::string name, Platform machine, std::vector<std::string> order,
                          Reasons rejected) {
    all.push_back({std::move(name), std::move(machine), std::move(order), std::move(rejected)});
  };
  expect("centos7_without_gpu", centos7, {"2.0.1-cpu"},
         because({{"EH-L08", {"2.8.0-cpu", "2.8.0-cu126", "2.8.0-cu128", "2.8.0-cu129"}},
                  {"EH-G01", {"1.13.1-cu117", "2.0.1-cu117", "2.0.1-cu118"}}}));
  expect("ubuntu_driver_470_gtx1080", with_gpus(ubuntu20, "470.223.02", "11.4", {{"GTX 1080", "6.1"}}),
         cuda_11_and_cpu, because({{"EH-G03", {"2.8.0-cu126"}}, {"EH-G05", {"2.8.0-cu128", "2.8.0-cu129"}}}));
  // 12.0 runs 12.6 to 12.9 by minor-version compatibility, 11.x natively; the version counts before that.
  expect("ubuntu_driver_525_rtx3090", with_gpus(ubuntu22, "525.147.05", "12.0", {{"RTX 3090", "8.6"}}),
         {"2.8.0-cu129", "2.8.0-cu128", "2.8.0-cu126", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117",
          "2.8.0-cpu", "2.0.1-cpu"},
         {});
  expect("ubuntu_driver_535_h100", with_gpus(ubuntu22, "535.104.05", "12.2", {{"H100", "9.0"}}),
         {"2.8.0-cu129", "2.8.0-cu128", "2.8.0-cu126", "2.0.1-cu118", "2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G05", {"2.0.1-cu117", "1.13.1-cu117"}}}));
  expect("ubuntu_driver_580_rtx4090", with_gpus(ubuntu22, "580.82.07", "13.0", {{"RTX 4090", "8.9"}}),
         {"2.8.0-cu129", "2.8.0-cu128", "2.8.0-cu126", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117",
          "2.8.0-cpu", "2.0.1-cpu"},
         {});
  Platform laptop = with_gpus(ubuntu22, "515.65.01", "11.7", {{"RTX 3050 Laptop", "8.6"}});
  laptop.cuda.toolkits =
      Fact<std::vector<platform::Installed>>::known({{"12.9", "/usr/local/cuda-12.9", ""}}, "version.json");
  expect("laptop_toolkit_12.9_driver_515", laptop,
         // 2.0.1: cu117 is native, cu118 goes by minor-version compatibility.
         {"2.0.1-cu117", "2.0.1-cu118", "1.13.1-cu117", "2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G03", {"2.8.0-cu126", "2.8.0-cu128", "2.8.0-cu129"}}}));
  Platform toolkit_only = ubuntu22;
  toolkit_only.cuda.toolkits = laptop.cuda.toolkits;
  expect("toolkit_without_driver", toolkit_only, {"2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G01", every_cuda}}));
  Platform container = ubuntu22;
  container.container = Fact<std::string>::known("docker", "/.dockerenv");
  container.cuda.driver = Fact<std::string>::known("535.104.05", "/proc/driver/nvidia/version");
  container.cuda.hardware = Fact<std::string>::known("10de:2684", "/sys/bus/pci");
  expect("container_without_gpus_flag", container, {"2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G01", every_cuda}}));
  Platform stub = ubuntu22;
  stub.cuda.library =
      Fact<platform::Installed>::known({"", "/usr/local/cuda/lib64/stubs/libcuda.so", "stub"}, "ld.so.cache");
  expect("stub_on_the_path", stub, {"2.8.0-cpu", "2.0.1-cpu"}, because({{"EH-G02", every_cuda}}));
  Platform wsl = with_gpus(ubuntu22, "572.60", "12.8", {{"RTX 4070", "8.9"}});
  wsl.wsl = Fact<std::string>::known("2", "/proc/version");
  expect("wsl2_driver_572", wsl,
         {"2.8.0-cu128", "2.8.0-cu126", "2.8.0-cu129", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117",
          "2.8.0-cpu", "2.0.1-cpu"},
         {});
  expect("rtx5080_driver_570", with_gpus(ubuntu22, "570.124.06", "12.8", {{"RTX 5080", "12.0"}}),
         {"2.8.0-cu128", "2.8.0-cu129", "2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G05", {"2.8.0-cu126", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117"}}}));
  expect("v100_driver_535", with_gpus(ubuntu22, "535.104.05", "12.2", {{"V100", "7.0"}}),
         {"2.8.0-cu129", "2.8.0-cu128", "2.8.0-cu126", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117",
          "2.8.0-cpu", "2.0.1-cpu"},
         {});
  expect("tesla_m60_driver_580", with_gpus(ubuntu22, "580.65.06", "13.0", {{"Tesla M60", "5.2"}}),
         {"2.8.0-cu126", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117", "2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G05", {"2.8.0-cu128", "2.8.0-cu129"}}}));
  // A card newer than every list: only portable code can serve it, and only where the driver compiles it.
  expect("later_card_driver_580", with_gpus(ubuntu22, "580.65.06", "13.0", {{"RTX 6090", "13.0"}}),
         {"2.8.0-cu129", "2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G05", {"2.8.0-cu128", "2.8.0-cu126", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117"}}}));
  expect("later_card_driver_570", with_gpus(ubuntu22, "570.124.06", "12.8", {{"RTX 6090", "13.0"}}),
         {"2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G06", {"2.8.0-cu129"}},
                  {"EH-G05", {"2.8.0-cu128", "2.8.0-cu126", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117"}}}));
  expect("old_and_new_card",
         with_gpus(ubuntu22, "580.65.06", "13.0", {{"GT 710", "3.5"}, {"RTX 4090", "8.9"}}),
         {"2.8.0-cu129", "2.8.0-cu128", "2.8.0-cu126", "2.0.1-cu118", "2.0.1-cu117", "1.13.1-cu117",
          "2.8.0-cpu", "2.0.1-cpu"},
         {});
  expect(
      "only_the_old_card_visible",
      with_visible(with_gpus(ubuntu22, "580.65.06", "13.0", {{"GT 710", "3.5"}, {"RTX 4090", "8.9"}}), "0"),
      {"2.8.0-cpu", "2.0.1-cpu"}, because({{"EH-G05", every_cuda}}));
  expect("all_hidden", with_visible(with_gpus(ubuntu22, "580.65.06", "13.0", {{"RTX 4090", "8.9"}}), ""),
         {"2.8.0-cpu", "2.0.1-cpu"}, because({{"EH-G07", every_cuda}}));
  expect("musl", musl_machine(), {},
         because({{"EH-L29",
                   {"1.13.1-cu117", "2.0.1-cpu", "2.0.1-cu117", "2.0.1-cu118", "2.8.0-cpu", "2.8.0-cu126",
                    "2.8.0-cu128", "2.8.0-cu129"}}}));
  Platform old_processor = centos7;
  old_processor.cpu = Fact<platform::Cpu>::known({"Xeon X5650", "x86-64-v2", {"sse4_2"}, 12}, "cpuid");
  expect("processor_without_avx2", old_processor, {},
         because({{"EH-L27", {"2.0.1-cpu", "2.0.1-cu117", "2.0.1-cu118", "1.13.1-cu117"}},
                  {"EH-L08", {"2.8.0-cpu", "2.8.0-cu126", "2.8.0-cu128", "2.8.0-cu129"}}}));
  expect("windows_driver_522_cuda_11.8",
         with_gpus(windows_machine(), "522.06", "11.8", {{"RTX 3080", "8.6"}}),
         {"2.0.1-cu118", "2.0.1-cu117", "2.8.0-cpu", "2.0.1-cpu"},
         because({{"EH-G03", {"2.8.0-cu126", "2.8.0-cu128"}}}));
  Platform bare_windows = with_gpus(windows_machine(), "522.06", "11.8", {{"RTX 3080", "8.6"}});
  bare_windows.vcruntime = Fact<std::string>::absent("System32");
  expect("windows_without_visual_cpp_runtime", bare_windows, {},
         because({{"EH-S15",
                   {"2.0.1-cu118", "2.0.1-cu117", "2.0.1-cpu", "2.8.0-cpu", "2.8.0-cu126", "2.8.0-cu128"}}}));
  expect("macos_arm64", mac_machine(), {"2.0.1-mps"}, {});
  Platform old_mac = mac_machine();
  old_mac.distribution = Fact<platform::Distribution>::known({"macos", "macOS", "11.7"}, "sw_vers");
  expect("macos_11", old_mac, {}, because({{"EH-S06", {"2.0.1-mps"}}}));
  return all;
}

class Machines : public testing::TestWithParam<Expectation> {};

TEST_P(Machines, AreDecidedAsTheTableSays) {
  const Expectation& expected = GetParam();
  const Plan plan = plan_for(expected.machine);
  EXPECT_EQ(ranked(plan), expected.ranked);
  Reasons rejected;
  for (const Candidate& candidate : plan.candidates)
    if (candidate.rank == 0 && candidate.build->os == expected.machine.os.value())
      rejected[short_name(candidate)] = code_of(plan, short_name(candidate), candidate.build->os);
  EXPECT_EQ(rejected, expected.rejected);
  for (const Candidate& candidate : plan.candidates)
    if (candidate.build->os != expected.machine.os.value()) {
      EXPECT_EQ(code_of(plan, short_name(candidate), candidate.build->os), "EH-S03");
    }
  EXPECT_EQ(plan.diagnosis.has_value(), expected.ranked.empty());
  EXPECT_EQ(plan.diagnosis ? std::string(plan.diagnosis->code_text()) : "EH-S01", "EH-S01");
}

INSTANTIATE_TEST_SUITE_P(Resolve, Machines, testing::ValuesIn(expectations()), [](const auto& one) {
  std::string name = one.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace enginehost::resolve
