// EngineHost's CUDA engine from request to outcome, on machines without a GPU: the missing parts are
// reported, an installation asks for NVIDIA's licenses first, and recorded machines are decided as NVIDIA's
// tables say.
#include <gmock/gmock.h>

#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

const std::string version = ENGINEHOST_VERSION;
const std::string cu130 = "cuda-" + version + "-cu130-linux-x86_64",
                  cu118 = "cuda-" + version + "-cu118-linux-x86_64";
bool has_driver() { return std::filesystem::exists("/proc/driver/nvidia/version"); }

std::vector<std::string> cuda(std::vector<std::string> more) {
  std::vector<std::string> arguments{"cuda", "--json", "--repository", repository};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CudaEngine, ReportsTheMissingDriver) {
  if (has_driver()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  const Workplace workplace;
  for (const auto& more : {std::vector<std::string>{}, std::vector<std::string>{"--require", "cu130"}}) {
    const Ended ended = workplace.info(cuda(more));
    EXPECT_EQ(ended.status, 3) << ended.said();
    EXPECT_EQ(ended.candidate(cu130)["diagnosis"]["code"].as_string(), "EH-G01") << ended.said();
    EXPECT_THAT(ended.said(), HasSubstr("no NVIDIA driver"));
  }
}

struct CudaDecision {
  const char* machine;
  const char* new_build;  // the code of the first check that refuses cu130; "": it fits
  const char* old_build;  // the same for cu118
};

class CudaDecisions : public testing::TestWithParam<CudaDecision> {};

// "" for a build that fits, whether or not it is compiled, which depends on the machine that built this tree.
std::string decided(const Json& candidate) {
  const Json& code = candidate["diagnosis"]["code"];
  return code.is_string() && code.as_string() != "EH-S12" ? code.as_string() : "";
}

TEST_P(CudaDecisions, MatchTheTableForBothFlavors) {
  const Workplace workplace;
  const Ended planned = workplace.info(cuda({"--plan", "--platform", profiles + GetParam().machine}));
  ASSERT_FALSE(planned.candidate(cu130).is_null()) << planned.said();
  EXPECT_EQ(decided(planned.candidate(cu130)), GetParam().new_build) << planned.said();
  EXPECT_EQ(decided(planned.candidate(cu118)), GetParam().old_build) << planned.said();
}

// CUDA 13 needs driver 580 and a card from 7.5 on, and has code for 12.0. CUDA 11.8 runs on every driver from
// 450.80.02 on; what is built with it here has code up to 8.6 and no PTX, so it runs up to 8.9. glibc before
// 2.27 has neither cuBLASLt nor cuDNN; without a GPU that is not the first reason. The machine with the H100
// is a real one: cu130 was opened there and cu118 refused with the same code.
INSTANTIATE_TEST_SUITE_P(
    RecordedMachines, CudaDecisions,
    testing::Values(CudaDecision{"linux-ubuntu2404-driver580-rtx4090.json", "", ""},
                    CudaDecision{"linux-ubuntu2404-driver580-rtx5090.json", "", "EH-G05"},
                    CudaDecision{"linux-ubuntu2404-driver580-h100.json", "", "EH-G05"},
                    CudaDecision{"wsl2-ubuntu2204-rtx4070.json", "", ""},
                    CudaDecision{"linux-rhel9-driver580-v100.json", "EH-G05", ""},
                    CudaDecision{"linux-laptop-toolkit129-driver535-rtx4060.json", "EH-G03", ""},
                    CudaDecision{"linux-ubuntu2204-driver525-rtx3090.json", "EH-G03", ""},
                    CudaDecision{"linux-ubuntu2204-driver535-a100x2-one-hidden.json", "EH-G03", ""},
                    CudaDecision{"linux-toolkit-without-driver.json", "EH-G01", "EH-G01"},
                    CudaDecision{"linux-container-without-gpus.json", "EH-G01", "EH-G01"},
                    CudaDecision{"linux-ubuntu2204-stub-library.json", "EH-G02", "EH-G02"},
                    CudaDecision{"linux-centos7-no-gpu.json", "EH-G01", "EH-G01"},
                    CudaDecision{"linux-alpine-musl.json", "EH-G01", "EH-G01"}),
    [](const auto& instance) {
      std::string name;
      for (char one : std::string(instance.param.machine)) {
        if (std::isalnum(static_cast<unsigned char>(one)) != 0) name += one;
      }
      return name.substr(0, name.size() - 4);
    });

#ifdef ENGINEHOST_CUDA_ENGINE
// The parts that the requested build lacks come before other builds to request.
TEST(CudaEngine, RemedyBeginsWithWhatTheNearestBuildLacks) {
  const Workplace workplace;
  const auto first_remedy = [&](const std::string& machine) {
    const Ended ended =
        workplace.info(cuda({"--require", "cu130", "--plan", "--platform", profiles + machine + ".json"}));
    EXPECT_EQ(ended.status, 3) << ended.said();
    return ended.document["diagnosis"]["remedy"].as_array().front().as_string();
  };
  EXPECT_EQ(first_remedy("linux-laptop-toolkit129-driver535-rtx4060"),
            "install NVIDIA driver 580.65.06 or newer");
  EXPECT_EQ(first_remedy("linux-ubuntu2204-stub-library"),
            "take /usr/local/cuda/lib64/stubs out of LD_LIBRARY_PATH, or out of /etc/ld.so.conf.d");
  EXPECT_EQ(first_remedy("linux-container-without-gpus"),
            "start the container with --gpus all; the host needs the NVIDIA Container Toolkit");
  EXPECT_THAT(first_remedy("linux-centos7-no-gpu"), HasSubstr("--plan --explain"));
}

TEST(CudaEngine, FetchesNothingBeforeTheLicenseIsAccepted) {
  const Workplace workplace;
  RunOptions options;
  options.environment = {"PIP_INDEX_URL=http://127.0.0.1:9/simple"};  // no server there
  const std::vector<std::string> fetch = {"fetch",
                                          "cuda",
                                          "--json",
                                          "--repository",
                                          repository,
                                          "--platform",
                                          profiles + "linux-ubuntu2404-driver580-rtx4090.json"};
  const Ended asked = workplace.run("engine-cache", fetch, options);
  EXPECT_EQ(asked.status, 8) << asked.said();
  EXPECT_THAT(asked.said(), HasSubstr("LicenseRef-NVIDIA-CUDA-EULA"));
  std::vector<std::string> half = fetch;
  half.insert(half.end(), {"--accept-license", "LicenseRef-NVIDIA-CUDA-EULA"});
  const Ended other = workplace.run("engine-cache", half, options);
  EXPECT_EQ(other.status, 8) << other.said();
  EXPECT_THAT(other.said(), HasSubstr("LicenseRef-NVIDIA-cuDNN-SLA"));
  half.insert(half.end(), {"--accept-license", "LicenseRef-NVIDIA-cuDNN-SLA"});
  const Ended fetched = workplace.run("engine-cache", half, options);
  EXPECT_EQ(fetched.status, 4) << fetched.said();  // only now is the network used
}

// The engine over the toolkit's own libraries and a fake driver: CUDA's answer decides the class.
class CudaFakeDriver : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(CudaFakeDriver, ReportsTheReasonThatCudaGives) {
  const Workplace workplace;
  const std::filesystem::path folder = workplace.folder() / "driver";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(ENGINEHOST_FAKE_CUDA, folder / "libcuda.so.1");
  RunOptions options;
  options.environment = {std::string(GetParam().first).substr(0, std::string(GetParam().first).find(' ')),
                         std::string(GetParam().first).substr(std::string(GetParam().first).find(' ') + 1),
                         "LD_LIBRARY_PATH=" + folder.native() + ":" ENGINEHOST_CUDA_FOLDERS};
  const Ended ended = workplace.info({"--plugin", ENGINEHOST_CUDA_ENGINE, "--json"}, options);
  EXPECT_EQ(ended.status, 6) << ended.said();
  EXPECT_EQ(ended.diagnosis()["code"].as_string(), GetParam().second) << ended.said();
  EXPECT_THAT(ended.said(), HasSubstr("cudaGetDeviceCount"));
}

INSTANTIATE_TEST_SUITE_P(Answers, CudaFakeDriver,
                         testing::Values(std::pair{"FAKE_CU_VERSION=11080 FAKE_CU_INIT=0", "EH-G03"},
                                         std::pair{"FAKE_CU_VERSION=13000 FAKE_CU_INIT=100", "EH-G07"},
                                         std::pair{"FAKE_CU_VERSION=13000 FAKE_CU_INIT=803", "EH-G09"},
                                         std::pair{"FAKE_CU_VERSION=13000 FAKE_CU_INIT=802", "EH-G11"},
                                         std::pair{"FAKE_CU_VERSION=13000 FAKE_CU_INIT=999", "EH-G13"}),
                         [](const auto& instance) { return std::string(instance.param.second).substr(3); });
#endif

}  // namespace
}  // namespace enginehost::test
