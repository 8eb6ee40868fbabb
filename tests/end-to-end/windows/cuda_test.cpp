// EngineHost's CUDA engine from request to outcome on Windows: without a driver, and on recorded machines.
#include <gmock/gmock.h>

#include "base/windows/system.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

const std::string cu130 = "cuda-" ENGINEHOST_VERSION "-cu130-windows-x86_64";

Ended cuda(const Workplace& workplace, std::vector<std::string> more) {
  more.insert(more.begin(), {"cuda", "--json", "--repository", repository});
  return workplace.info(std::move(more));
}

TEST(CudaEngine, ReportsTheMissingDriver) {
  if (::LoadLibraryExW(L"nvcuda.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32) != nullptr)
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  const Workplace workplace;
  for (const auto& more : {std::vector<std::string>{}, std::vector<std::string>{"--require", "cu130"}}) {
    const Ended ended = cuda(workplace, more);
    EXPECT_EQ(ended.status, 3) << ended.said();
    EXPECT_EQ(ended.candidate(cu130)["diagnosis"]["code"].as_string(), "EH-G01") << ended.said();
    EXPECT_THAT(ended.said(), HasSubstr("no NVIDIA driver"));
  }
}

struct CudaDecision {
  const char* machine;
  const char* code;  // of the first check that refuses the build; "": it is chosen
};

class CudaDecisions : public testing::TestWithParam<CudaDecision> {};

TEST_P(CudaDecisions, MatchTheTable) {
  const Workplace workplace;
  const std::string expected = GetParam().code;
  const Ended planned = cuda(workplace, {"--plan", "--platform", profiles + GetParam().machine + ".json"});
  const Json& code = planned.candidate(cu130)["diagnosis"]["code"];
  const std::string found = code.is_string() ? code.as_string() : "";
  if (found == "EH-S12") GTEST_SKIP() << "the engine was not compiled here";
  EXPECT_EQ(found, expected) << planned.said();
  EXPECT_EQ(planned.status, expected.empty() ? 0 : 3) << planned.said();
  if (expected.empty()) {
    EXPECT_EQ(planned.outcome()["build"].as_string(), cu130) << planned.said();
  }
}

// CUDA 13 needs driver 580.
INSTANTIATE_TEST_SUITE_P(RecordedMachines, CudaDecisions,
                         testing::Values(CudaDecision{"windows11-cudart65-driver595-rtx5090", ""},
                                         CudaDecision{"windows11-cuda118-driver522-rtx3060", "EH-G03"},
                                         CudaDecision{"windows11-driver527-rtx3060", "EH-G03"},
                                         CudaDecision{"windows11-rx7900xtx", "EH-G01"}));

}  // namespace
}  // namespace enginehost::test
