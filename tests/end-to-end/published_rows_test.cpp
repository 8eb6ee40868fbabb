// The published builds for NVIDIA's devices that need the most of a machine, decided for every recorded
// machine: ONNX Runtime for CUDA 11.8, 12.8 and 13.0, and PyTorch from 1.13.1 on CUDA 11.7 to 2.11.0 on 13.0.
#include <gmock/gmock.h>

#include <array>
#include <cctype>

#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/without_plugins.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 6> published = {
    {{"onnxruntime", "onnxruntime-1.18.1-cu118-linux-x86_64"},
     {"onnxruntime", "onnxruntime-1.23.2-cu128-linux-x86_64"},
     {"onnxruntime", "onnxruntime-1.27.0-cu130-linux-x86_64"},
     {"pytorch", "pytorch-1.13.1-cu117-linux-x86_64"},
     {"pytorch", "pytorch-2.9.1-cu128-linux-x86_64"},
     {"pytorch", "pytorch-2.11.0-cu130-linux-x86_64"}}};

// The code that refuses a build, in the order of `published`. EH-S12: it fits, and its plugin is not compiled
// here. Without a code the verdict.
struct Row {
  const char* machine;
  std::array<const char*, published.size()> decided;
  std::string onnxruntime;  // version and flavor of the build that would be opened; empty: none
};

class PublishedRows : public testing::TestWithParam<Row> {};

TEST_P(PublishedRows, AreDecidedByDriverCardAndLibc) {
  const Workplace workplace;
  const std::string machine = source_path("/tests/profiles/") + GetParam().machine + ".json";
  for (std::size_t i = 0; i < published.size(); ++i) {
    const auto& [engine, build] = published.at(i);
    const bool is_pytorch = std::string_view(engine) == "pytorch";
    const Ended planned =
        workplace.info({engine, "--json", "--plan", "--repository",
                        is_pytorch ? repository_without_plugins() : repository, "--platform", machine});
    const Json& candidate = planned.candidate(build);
    ASSERT_FALSE(candidate.is_null()) << build << "\n" << planned.said();
    const std::string code = candidate["diagnosis"]["code"].as_string();
    const std::string verdict = candidate["verdict"].as_string();
    const std::string decided = !code.empty() ? code : verdict == "chosen" ? "fits" : verdict;
    EXPECT_EQ(decided, GetParam().decided.at(i)) << build << "\n" << planned.said();
    if (std::string_view(engine) != "onnxruntime") continue;
    const std::string& expected = GetParam().onnxruntime;
    EXPECT_EQ(planned.outcome()["build"].as_string(),
              expected.empty() ? "" : "onnxruntime-" + expected + "-linux-x86_64");
  }
}

// A card is used wherever a build fits it. No CPU build comes before it, even if the build needs system
// libraries that the record does not mention. CUDA 13 needs a driver from 580 on (EH-G03) and code for the
// card from 7.5 on, so a V100 or GTX 1080 Ti is refused whatever its driver (EH-G05). A GeForce RTX 50 runs
// ONNX Runtime for CUDA 12.8 by its PTX for 9.0, and no PyTorch before 2.7, whose wheels have none. Where
// there is no NVIDIA GPU, that is the reason, although Alpine's musl or the glibc of CentOS 7 would refuse
// the builds, too: a library can be installed.
INSTANTIATE_TEST_SUITE_P(
    RecordedMachines, PublishedRows,
    testing::Values(
        Row{"linux-alpine-musl", {"EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01"}, ""},
        Row{"linux-centos7-no-gpu", {"EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01"}, ""},
        Row{"linux-container-without-gpus",
            {"EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01"},
            "1.32.0-cpu"},
        Row{"linux-driver-timed-out",
            {"EH-S12", "fits", "EH-G03", "EH-S12", "EH-S12", "EH-G03"},
            "1.32.0-cpu"},
        Row{"linux-fedora41-nouveau-rtx3060",
            {"EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01"},
            "1.32.0-cpu"},
        Row{"linux-laptop-toolkit129-driver535-rtx4060",
            {"EH-S12", "fits", "EH-G03", "EH-S12", "EH-S12", "EH-G03"},
            "1.26.0-cu128"},
        Row{"linux-rhel9-driver580-v100",
            {"EH-S12", "fits", "EH-G05", "EH-S12", "EH-S12", "EH-G05"},
            "1.26.0-cu128"},
        Row{"linux-rocm62-rx7900xtx",
            {"EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01"},
            "1.32.0-cpu"},
        Row{"linux-toolkit-without-driver",
            {"EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-G01"},
            "1.32.0-cpu"},
        Row{"linux-ubuntu2004-driver470-gtx1080ti",
            {"EH-S12", "EH-G03", "EH-G05", "EH-S12", "EH-G05", "EH-G05"},
            "1.32.0-cpu"},
        Row{"linux-ubuntu2204-driver525-rtx3090",
            {"EH-S12", "fits", "EH-G03", "EH-S12", "EH-S12", "EH-G03"},
            "1.26.0-cu128"},
        Row{"linux-ubuntu2204-driver535-a100x2-one-hidden",
            {"EH-S12", "fits", "EH-G03", "EH-S12", "EH-S12", "EH-G03"},
            "1.26.0-cu128"},
        Row{"linux-ubuntu2204-stub-library",
            {"EH-G02", "EH-G02", "EH-G02", "EH-G02", "EH-G02", "EH-G02"},
            "1.32.0-cpu"},
        Row{"linux-ubuntu2404-driver580-h100",
            {"EH-S12", "fits", "fits", "EH-G05", "EH-S12", "EH-S12"},
            "1.31.1-cu130"},
        Row{"linux-ubuntu2404-driver580-rtx4090",
            {"EH-S12", "fits", "fits", "EH-S12", "EH-S12", "EH-S12"},
            "1.31.1-cu130"},
        Row{"linux-ubuntu2404-driver580-rtx5090",
            {"EH-S12", "fits", "fits", "EH-G05", "EH-S12", "EH-S12"},
            "1.31.1-cu130"},
        Row{"macos-arm64-m2", {"rejected", "rejected", "rejected", "rejected", "rejected", "rejected"}, ""},
        Row{"macos-x86_64-intel",
            {"rejected", "rejected", "rejected", "rejected", "rejected", "rejected"},
            ""},
        Row{"windows11-cuda118-driver522-rtx3060",
            {"rejected", "rejected", "rejected", "rejected", "rejected", "rejected"},
            ""},
        Row{"windows11-cudart65-driver595-rtx5090",
            {"rejected", "rejected", "rejected", "rejected", "rejected", "rejected"},
            ""},
        Row{"wsl2-ubuntu2204-rtx4070",
            {"EH-S12", "fits", "fits", "EH-S12", "EH-S12", "EH-S12"},
            "1.31.1-cu130"}),
    [](const auto& instance) {
      std::string name;
      for (const char* at = instance.param.machine; *at != '\0'; ++at)
        if (std::isalnum(static_cast<unsigned char>(*at)) != 0) name += *at;
      return name;
    });

}  // namespace
}  // namespace enginehost::test
