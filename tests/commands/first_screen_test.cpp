// The machine in three lines, and one row per engine.
#include "host/commands/report.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"
#include "host/resolve/passed_over.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::commands {
namespace {

using resolve::catalog;
using resolve::plan_for;
using resolve::recorded;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ResultOf;
using testing::SizeIs;

std::vector<std::string> machine(const std::string& name) { return machine_lines(recorded(name), 80); }

EngineRow row(const platform::Platform& machine, const std::string& engine) {
  return row_of(plan_for(machine, engine), [](const manifest::Build&) { return std::string("1 MiB"); });
}

// A screen of as many engines, each with the longest texts that published builds have.
std::vector<EngineRow> rows(std::size_t count, const std::string& download) {
  std::vector<EngineRow> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({EngineRow::State::opens, "onnxruntime", "1.27.0 cu130", download, "",
                   "1.28.0 cu131: needs driver 580.65.06"});
  return all;
}

TEST(FirstScreenTest, ShowsSystemProcessorAndMemory) {
  EXPECT_EQ(machine("linux-toolkit-without-driver").front(), "Debian 12, x86-64-v3, 8 cores, 32 GiB");
  EXPECT_EQ(machine("linux-rhel9-driver580-v100").front(),
            "Red Hat Enterprise Linux 9.4, x86-64-v4, 40 cores, 192 GiB");
  EXPECT_EQ(machine("wsl2-ubuntu2204-rtx4070").front(),
            "Ubuntu 22.04.4 LTS in WSL 2, x86-64-v3, 16 cores, 16 GiB");
  EXPECT_EQ(machine("linux-alpine-musl").front(),
            "Alpine Linux v3.20 in a container (docker), x86-64-v3, 4 cores, 8.0 GiB");
  EXPECT_EQ(machine("macos-arm64-m2").front(), "macOS 14.5, Apple M2, arm64, 8 cores, 16 GiB");
}

TEST(FirstScreenTest, ShowsGpusWithTheirDriver) {
  EXPECT_EQ(machine("linux-ubuntu2004-driver470-gtx1080ti").at(1),
            "NVIDIA GeForce GTX 1080 Ti (6.1, 11 GiB), driver 470.256.02 (CUDA 11.4)");
  EXPECT_EQ(machine("macos-arm64-m2").at(1), "GPU Apple M2 (Metal)");
  EXPECT_EQ(machine("linux-rocm62-rx7900xtx").at(1), "AMD GPU gfx1100, ROCm 6.2.0");
}

TEST(FirstScreenTest, CountsEqualGpus) {
  const std::vector<std::pair<std::string, std::string>> eight(8, {"NVIDIA H100", "9.0"});
  const auto lines = machine_lines(resolve::with_gpus(resolve::ubuntu22, "580.65.06", "13.0", eight), 80);
  EXPECT_EQ(lines.at(1), "8 x NVIDIA H100 (9.0, 8.0 GiB), driver 580.65.06 (CUDA 13.0)");
}

TEST(FirstScreenTest, LeavesOutKindsOfGpuThatDoNotFit) {
  std::vector<std::pair<std::string, std::string>> kinds;
  for (int i = 0; i < 9; ++i) kinds.emplace_back("NVIDIA GeForce RTX 40" + std::to_string(i) + "0", "8.9");
  const auto lines = machine_lines(resolve::with_gpus(resolve::ubuntu22, "580.65.06", "13.0", kinds), 80);
  EXPECT_THAT(lines, SizeIs(3));
  EXPECT_THAT(join(lines, " "),
              AllOf(HasSubstr(" other kinds, driver 580.65.06 (CUDA 13.0)"), Not(HasSubstr("…"))));
}

TEST(FirstScreenTest, ExplainsAMissingGpu) {
  EXPECT_EQ(machine("linux-toolkit-without-driver").at(1),
            "no GPU: no NVIDIA device and no driver (engine-info --code EH-G01)");
  EXPECT_EQ(machine("linux-fedora41-nouveau-rtx3060").at(1),
            "no GPU: NVIDIA device 10de:2504, but no driver (engine-info --code EH-G01)");
  EXPECT_EQ(machine("linux-container-without-gpus").at(1),
            "no GPU: driver 550.54.15, but no libcuda.so.1 (engine-info --code EH-G01)");
  EXPECT_EQ(machine("linux-ubuntu2204-stub-library").at(1),
            "no GPU: only a stub of the driver is found (engine-info --code EH-G02)");
  EXPECT_EQ(machine("linux-driver-timed-out").at(1),
            "GPU unknown: the driver did not answer in 15 s (engine-info --code EH-G22)");
}

TEST(FirstScreenTest, NamesTheClassOfADriverThatFails) {
  for (const auto& [init, said] : {std::pair{"3", "no GPU: cuInit said 3 (engine-info --code EH-G13)"},
                                   {"803", "no GPU: cuInit said 803 (engine-info --code EH-G09)"},
                                   {"804", "no GPU: cuInit said 804 (engine-info --code EH-G10)"},
                                   {"802", "no GPU now: cuInit said 802 (engine-info --code EH-G11)"},
                                   {"46", "no GPU now: cuInit said 46 (engine-info --code EH-G12)"},
                                   {"12345", "GPU unknown: cuInit said 12345"}}) {
    platform::Platform failing = recorded("linux-ubuntu2404-driver580-rtx4090");
    failing.cuda.init = platform::Fact<std::string>::known(init, "cuInit");
    failing.cuda.devices =
        platform::Fact<std::vector<platform::CudaDevice>>::unknown(std::string("cuInit said ") + init);
    EXPECT_EQ(machine_lines(failing, 80).at(1), said);
  }
}

TEST(FirstScreenTest, NamesAnAmdCardThatTheKernelDoesNotOffer) {
  platform::Platform amd = recorded("linux-rhel8-no-gpu");
  amd.other_gpus = platform::Fact<std::string>::known("AMD 1002:699f", "/sys/bus/pci/devices");
  EXPECT_EQ(machine_lines(amd, 120).at(1),
            "no GPU: AMD 1002:699f, which the kernel does not offer to ROCm (engine-info --code EH-S16)");
  amd.other_gpus = platform::Fact<std::string>::known("Intel 8086:56a0", "/sys/bus/pci/devices");
  EXPECT_EQ(machine_lines(amd, 120).at(1), "GPU Intel 8086:56a0: no engine build here uses it");
}

TEST(FirstScreenTest, NamesAGpuOfAnotherMakerAndWhatMayUseIt) {
  EXPECT_EQ(machine("windows11-rx7900xtx").at(1), "GPU AMD 1002:744c: no engine build here uses it");
  EXPECT_EQ(machine("linux-ubuntu2404-arc-a770").at(1), "GPU Intel 8086:56a0: no engine build here uses it");
  EXPECT_EQ(
      machine_lines(recorded("windows11-rx7900xtx"), 80, "engine-info onnxruntime --flavor dml may use it")
          .at(1),
      "GPU AMD 1002:744c: engine-info onnxruntime --flavor dml may use it");
}

TEST(FirstScreenTest, TakesAtMostThreeLinesAtAnyWidth) {
  for (const char* name : {"linux-container-without-gpus", "linux-ubuntu2204-driver535-a100x2-one-hidden",
                           "linux-laptop-toolkit129-driver535-rtx4060", "macos-x86_64-intel"})
    for (const std::size_t width : {40u, 60u, 80u, 200u}) {
      const auto lines = machine_lines(recorded(name), width);
      EXPECT_LE(lines.size(), 3u) << name;
      for (const std::string& line : lines) EXPECT_LE(width_of(line), width) << line;
    }
}

TEST(FirstScreenTest, ARowShowsTheBuildAndTheBetterOne) {
  const EngineRow old_driver = row(recorded("linux-ubuntu2204-driver525-rtx3090"), "onnxruntime");
  EXPECT_EQ(old_driver.state, EngineRow::State::opens);
  EXPECT_EQ(old_driver.build + ", " + old_driver.download, "1.22.0 cu12, 1 MiB");
  EXPECT_EQ(old_driver.reason, "1.27.0 cu13: needs driver 580.65.06");
  EXPECT_EQ(row(recorded("linux-toolkit-without-driver"), "pytorch").reason, "cu129: needs an NVIDIA GPU")
      << "the same version";
}

// The plan of a machine on which the first candidate has that obstacle.
resolve::Plan stopped_by(const Diagnosis& obstacle) {
  resolve::Plan plan = plan_for(recorded("linux-toolkit-without-driver"), "pytorch");
  plan.candidates.front().obstacle = obstacle;
  return plan;
}

TEST(FirstScreenTest, ALicenseToAcceptIsANote) {
  const Diagnosis one = diagnose(Code::consent_missing).with(Key::license, "LicenseRef-NVIDIA-CUDA-EULA");
  const resolve::Plan plan = stopped_by(one);
  const EngineRow asks = row_of(plan, [](const manifest::Build&) { return std::string("1 MiB"); });
  EXPECT_EQ(asks.state, EngineRow::State::fallback);
  EXPECT_EQ(asks.build, "2.8.0 cpu");
  EXPECT_EQ(asks.note, "asks: license NVIDIA-CUDA-EULA");
  EXPECT_EQ(to_json(plan)["state"].as_string(), "asks");
  EXPECT_EQ(to_json(plan)["code"].as_string(), "EH-P03");
  const std::string table = engine_table({asks}, Screen());
  EXPECT_THAT(table, HasSubstr("download  but\n")) << "it is no better build";
  EXPECT_THAT(table, HasSubstr("1 MiB     asks: license NVIDIA-CUDA-EULA\n"));
  Diagnosis three = one;
  three.with(Key::license, "MIT").with(Key::license, "LicenseRef-other");
  EXPECT_EQ(resolve::obstacle_text(three), "asks: license NVIDIA-CUDA-EULA, 2 others");
}

TEST(FirstScreenTest, WhatStopsEachBuildIsTheReasonOfTheRow) {
  for (const auto& [obstacle, reason] :
       {std::pair{diagnose(Code::forbidden_by_policy).with(Key::what, "the license MIT"),
                  "EH-P01 forbidden by policy: license MIT"},
        {diagnose(Code::folder_not_writable).with(Key::folder, "/home/you/.cache/enginehost"),
         "EH-F16 no cache: /home/you/.cache/enginehost cannot be written"},
        {diagnose(Code::component_without_source), "EH-N15 it cannot be installed"}}) {
    const resolve::Plan plan = stopped_by(obstacle);
    const EngineRow none = row_of(plan, [](const manifest::Build&) { return std::string("1 MiB"); });
    EXPECT_EQ(none.build + none.download + none.note, "none");
    EXPECT_EQ(none.reason, reason);
    EXPECT_EQ(to_json(plan)["state"].as_string(), "none");
    EXPECT_EQ(to_json(plan)["code"].as_string(), obstacle.code);
    EXPECT_TRUE(to_json(plan)["build"].is_null());
  }
}

TEST(FirstScreenTest, ARowWithoutABuildShowsCodeAndReason) {
  const EngineRow none = row(recorded("macos-x86_64-intel"), "onnxruntime");
  EXPECT_EQ(none.state, EngineRow::State::none);
  EXPECT_EQ(none.build + none.download, "none");
  EXPECT_EQ(none.reason, "EH-S03 no build is for macos x86_64");
}

TEST(FirstScreenTest, FitsIntoATerminalOf24Lines) {
  for (const char* download : {"installed", "built in", "1023 MiB", "unknown size"}) {
    const std::string text = engine_table(rows(6, download), Screen());
    const auto lines = split(trim(text), '\n');
    EXPECT_LE(lines.size(), 24u - 7u) << text;
    EXPECT_THAT(lines, Each(ResultOf(width_of, testing::Le(80u)))) << text;
  }
}

TEST(FirstScreenTest, PutsReasonsBelowOnANarrowTerminal) {
  Screen screen;
  screen.width = 50;
  const std::string text = engine_table(rows(1, "installed"), screen);
  EXPECT_THAT(text,
              HasSubstr("onnxruntime  1.27.0 cu130  installed\n    1.28.0 cu131: needs driver 580.65.06\n"));
}

TEST(FirstScreenTest, LongNamesAreShortened) {
  std::vector<EngineRow> all = rows(1, "installed");
  all[0].engine = std::string(60, 'e');
  all[0].reason = std::string(300, 'r');
  for (const std::string& line : split(engine_table(all, Screen()), '\n'))
    EXPECT_LE(width_of(line), 80u) << line;
}

TEST(FirstScreenTest, ColorsDoNotMoveColumns) {
  Screen screen;
  screen.colored = true;
  std::string text = engine_table(rows(2, "installed"), screen);
  EXPECT_THAT(
      text, AllOf(HasSubstr("\033[1monnxruntime\033[0m  \033[32m1.27.0 cu130\033[0m"), HasSubstr("\033[2m")));
  for (const char* code : {"\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[33m"})
    for (std::size_t at; (at = text.find(code)) != std::string::npos;)
      text.erase(at, std::string(code).size());
  EXPECT_EQ(text, engine_table(rows(2, "installed"), Screen()));
}

}  // namespace
}  // namespace enginehost::commands
