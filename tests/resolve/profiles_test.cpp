// The recorded machines of tests/profiles, decided.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "tests/resolve/machines.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::resolve {
namespace {

namespace fs = std::filesystem;

struct Profile {
  std::string file;
  std::string chosen;                          // of pytorch; "" when nothing fits
  std::map<std::string, std::string> refused;  // some of the others, with the code that refuses them
  std::string onnxruntime;                     // chosen of onnxruntime
  friend void PrintTo(const Profile& one, std::ostream* out) { *out << one.file; }
};

const std::vector<Profile> profiles = {
    {"linux-alpine-musl", "", {{"2.0.1-cpu", "EH-L29"}, {"2.8.0-cu129", "EH-L29"}}, ""},
    // Builds for arm64 are in arm64_test.cpp.
    {"linux-arm64-jetson-agx-orin-l4t36", "", {}, ""},
    {"linux-arm64-server-gh200-driver570", "", {}, ""},
    {"linux-centos7-no-gpu", "", {{"2.0.1-cpu", "EH-L27"}, {"2.8.0-cpu", "EH-L08"}}, ""},
    {"linux-container-without-gpus",
     "2.8.0-cpu",
     {{"2.8.0-cu126", "EH-G01"}, {"2.0.1-cu118", "EH-G01"}},
     "1.22.0-cpu"},
    {"linux-driver-timed-out", "2.8.0-cpu", {{"2.8.0-cu126", ""}, {"2.0.1-cu118", ""}}, "1.22.0-cpu"},
    {"linux-fedora41-nouveau-rtx3060", "2.8.0-cpu", {{"2.8.0-cu128", "EH-G01"}}, "1.22.0-cpu"},
    {"linux-laptop-toolkit129-driver535-rtx4060", "2.8.0-cu129", {{"2.0.1-cu118", ""}}, "1.22.0-cu12"},
    {"linux-rhel9-driver580-v100", "2.8.0-cu129", {{"2.8.0-cu126", ""}}, "1.22.0-cu12"},
    {"linux-rocm62-rx7900xtx", "2.8.0-cpu", {{"2.8.0-cu128", "EH-G01"}}, "1.22.0-cpu"},
    {"linux-toolkit-without-driver", "2.8.0-cpu", {{"2.8.0-cu129", "EH-G01"}}, "1.22.0-cpu"},
    {"linux-ubuntu2004-driver470-gtx1080ti", "2.0.1-cu118", {{"2.8.0-cu126", "EH-G03"}}, "1.18.0-cu118"},
    {"linux-ubuntu2204-driver525-rtx3090", "2.8.0-cu129", {}, "1.22.0-cu12"},
    {"linux-ubuntu2204-driver535-a100x2-one-hidden", "2.8.0-cu129", {}, "1.22.0-cu12"},
    {"linux-ubuntu2204-stub-library", "2.8.0-cpu", {{"2.8.0-cu126", "EH-G02"}}, "1.22.0-cpu"},
    // Captured. Every wheel has code for 9.0, so the newest CUDA is taken.
    {"linux-ubuntu2404-driver580-h100",
     "2.8.0-cu129",
     {{"2.0.1-cu118", ""}, {"2.8.0-cu126", ""}},
     "1.22.0-cu12"},
    {"linux-ubuntu2404-driver580-rtx4090", "2.8.0-cu129", {}, "1.22.0-cu12"},
    // onnxruntime's cu12 has PTX 9.0, which driver 580 compiles for the card; its cu13 has no digest.
    {"linux-ubuntu2404-driver580-rtx5090",
     "2.8.0-cu129",
     {{"2.8.0-cu126", "EH-G05"}, {"2.0.1-cu118", "EH-G05"}},
     "1.22.0-cu12"},
    {"macos-arm64-m2", "2.0.1-mps", {}, "1.22.0-cpu"},
    {"macos-x86_64-intel", "", {}, ""},
    {"macos-x86_64-rosetta-m2", "", {}, ""},
    {"windows11-cuda118-driver522-rtx3060", "2.0.1-cu118", {}, "1.22.0-cpu"},
    {"windows11-cudart65-driver595-rtx5090", "2.8.0-cu128", {}, "1.22.0-cpu"},
    {"wsl2-ubuntu2204-rtx4070", "2.8.0-cu129", {}, "1.22.0-cu12"},
};

fs::path folder() { return fs::path(test::source_path()) / "tests" / "profiles"; }

class Profiles : public testing::TestWithParam<Profile> {};

TEST_P(Profiles, AreDecidedAsTheTableSays) {
  const fs::path file = folder() / (GetParam().file + ".json");
  const auto text = read_file(file);
  ASSERT_TRUE(text) << file;
  const auto document = parse_json(*text, file.string());
  ASSERT_TRUE(document);
  const auto machine = platform::platform_from_json(*document, file.string());
  ASSERT_TRUE(machine);
  const Plan plan = plan_for(*machine);
  EXPECT_EQ(chosen(plan), GetParam().chosen);
  EXPECT_EQ(chosen(plan_for(*machine, "onnxruntime")), GetParam().onnxruntime);
  for (const auto& [build, code] : GetParam().refused) EXPECT_EQ(code_of(plan, build), code) << build;
}

INSTANTIATE_TEST_SUITE_P(Resolve, Profiles, testing::ValuesIn(profiles));

TEST(ProfilesTest, EveryRecordedMachineIsInTheTable) {
  std::set<std::string> recorded, listed;
  for (const auto& entry : fs::directory_iterator(folder()))
    if (entry.path().extension() == ".json") recorded.insert(entry.path().stem().string());
  for (const Profile& profile : profiles) listed.insert(profile.file);
  EXPECT_EQ(recorded, listed);
}

}  // namespace
}  // namespace enginehost::resolve
