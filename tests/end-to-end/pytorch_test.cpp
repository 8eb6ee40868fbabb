// PyTorch from request to answer: Debian's libtorch opened in place, and the published builds decided for
// recorded machines.
#include <gmock/gmock.h>

#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/without_plugins.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

// Debian's libtorch, which an adapter for a newer release would precede.
const std::string of_debian = "pytorch@1.13";

std::vector<std::string> pytorch(std::vector<std::string> more) {
  std::vector<std::string> arguments{of_debian, "--json", "--repository", repository};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

#ifdef ENGINEHOST_MAKE_TORCHSCRIPT
TEST(PyTorchEngine, OpensTheSystemsLibtorchAndPassesItsSelfTest) {
  const Workplace workplace;
  const Ended opened = workplace.info(pytorch({"--self-test"}));
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["state"].as_string(), "opened");
  EXPECT_EQ(opened.outcome()["flavor"].as_string(), "cpu");
  bool from_the_system = false;
  for (const Json& library : opened.outcome()["loaded"].as_array()) {
    if (library["soname"].as_string().starts_with("libtorch_cpu.so"))
      from_the_system = library["origin"].as_string() == "system";
  }
  EXPECT_TRUE(from_the_system) << opened.said();
  // Its constructors compute, which raises the flag for inexact results. That is no change of mode.
  EXPECT_THAT(opened.said(), testing::Not(HasSubstr("EH-R08")));
}

TEST(PyTorchEngine, RunsATorchScriptModel) {
  const Workplace workplace;
  const std::string models = workplace.folder().string() + "/models";
  std::filesystem::create_directories(models);
  ASSERT_EQ(std::system(("'" ENGINEHOST_MAKE_TORCHSCRIPT "' '" + models + "'").c_str()), 0);
  const std::string input = source_path("/tests/end-to-end/golden/three_floats.npy");
  const Ended ran = workplace.run("engine-run", {of_debian, models + "/linear.pt", "--input", "x=" + input,
                                                 "--output", models + "/out", "--repository", repository});
  ASSERT_EQ(ran.status, 0) << ran.said();
  EXPECT_THAT(ran.output, HasSubstr("float32[3]"));
  EXPECT_TRUE(std::filesystem::exists(models + "/out/output.npy")) << ran.said();
}

TEST(PyTorchEngine, NamesAMissingLibraryAndItsUser) {
  if (!can_mount()) GTEST_SKIP() << "needs the right to mount, to take the library away";
  const Workplace workplace;
  // An empty file in the place of the library, in this command's mount namespace alone.
  RunOptions options;
  options.launcher = {"unshare",
                      "--mount",
                      "sh",
                      "-c",
                      "mount --bind /dev/null \"$(readlink -f /usr/lib/*/libc10.so.1.13)\" && exec \"$@\"",
                      "sh"};
  const Ended ended = workplace.info(pytorch({}), options);
  EXPECT_EQ(ended.status, 6) << ended.said();
  EXPECT_THAT(ended.said(), HasSubstr("libc10.so.1.13"));
}
#endif

// For each published build for NVIDIA's devices: the code of the first check that refuses it. EH-S12: it
// fits, and only its plugin is not compiled here.
struct Decision {
  const char* machine;
  const char *cu117, *cu118;  // of 2.0.1
  const char *cu126, *cu128;  // of 2.8.0
};

class PyTorchDecisions : public testing::TestWithParam<Decision> {};

TEST_P(PyTorchDecisions, MatchTheTableOfPublishedBuilds) {
  const Workplace workplace;
  const Ended planned =
      workplace.info({"pytorch", "--json", "--plan", "--repository", repository_without_plugins(),
                      "--platform", profiles + GetParam().machine});
  const std::pair<const char*, const char*> expected[] = {
      {"pytorch-2.0.1-cu117-linux-x86_64", GetParam().cu117},
      {"pytorch-2.0.1-cu118-linux-x86_64", GetParam().cu118},
      {"pytorch-2.8.0-cu126-linux-x86_64", GetParam().cu126},
      {"pytorch-2.8.0-cu128-linux-x86_64", GetParam().cu128}};
  for (const auto& [build, code] : expected) {
    const Json& candidate = planned.candidate(build);
    ASSERT_FALSE(candidate.is_null()) << build << "\n" << planned.said();
    EXPECT_EQ(candidate["diagnosis"]["code"].as_string(), code) << build << "\n" << planned.said();
  }
}

// The driver decides (CUDA 11 runs on every driver from 450.80.02 on, CUDA 12 from 525.60.13 on), and before
// it whether there is any code for the card: sm_90 is the newest in the wheels of 2.0.1, which have no PTX. A
// GeForce RTX 50 is therefore refused whatever its driver, and accepted by cu128 of 2.8.0 alone. Where
// there is no NVIDIA GPU, that comes before the C library.
INSTANTIATE_TEST_SUITE_P(
    RecordedMachines, PyTorchDecisions,
    testing::Values(
        Decision{"linux-ubuntu2004-driver470-gtx1080ti.json", "EH-S12", "EH-S12", "EH-G03", "EH-G05"},
        Decision{"linux-ubuntu2204-driver525-rtx3090.json", "EH-S12", "EH-S12", "EH-S12", "EH-S12"},
        Decision{"linux-rhel9-driver580-v100.json", "EH-S12", "EH-S12", "EH-S12", "EH-S12"},
        Decision{"linux-laptop-toolkit129-driver535-rtx4060.json", "EH-S12", "EH-S12", "EH-S12", "EH-S12"},
        Decision{"linux-ubuntu2404-driver580-h100.json", "EH-G05", "EH-S12", "EH-S12", "EH-S12"},
        Decision{"linux-ubuntu2404-driver580-rtx5090.json", "EH-G05", "EH-G05", "EH-G05", "EH-S12"},
        Decision{"linux-centos7-no-gpu.json", "EH-G01", "EH-G01", "EH-G01", "EH-G01"},
        Decision{"linux-fedora41-nouveau-rtx3060.json", "EH-G01", "EH-G01", "EH-G01", "EH-G01"},
        Decision{"linux-toolkit-without-driver.json", "EH-G01", "EH-G01", "EH-G01", "EH-G01"},
        Decision{"linux-container-without-gpus.json", "EH-G01", "EH-G01", "EH-G01", "EH-G01"},
        Decision{"linux-ubuntu2204-stub-library.json", "EH-G02", "EH-G02", "EH-G02", "EH-G02"},
        Decision{"linux-alpine-musl.json", "EH-G01", "EH-G01", "EH-G01", "EH-G01"}),
    [](const auto& instance) {
      std::string name;
      for (char one : std::string(instance.param.machine)) {
        if (std::isalnum(static_cast<unsigned char>(one)) != 0) name += one;
      }
      return name.substr(0, name.size() - 4);
    });

}  // namespace
}  // namespace enginehost::test
