// Requests that are refused before any computation, which needs no device: the CUDA engine and the reference
// engine refuse the same cases that tests/gpu compares on a GPU.
#include <gtest/gtest.h>

#include "tests/engines/plugin_host.hpp"
#include "tests/gpu/operation_cases.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::engines::tests {
namespace {

engine_status status_of(const Engine& engine, const gpu::Case& one, const gpu::Inputs& inputs,
                        std::string& message) {
  std::vector<engine_entry> attributes;
  for (const auto& [key, value] : one.attributes) attributes.push_back({key.c_str(), value.c_str()});
  Results results;
  Call call;
  const engine_status status = engine.run(one.operation.c_str(), inputs.tensors(), results, call, attributes);
  message = call.message();
  return status;
}

bool is_refusal(engine_status status) { return status == ENGINE_INVALID || status == ENGINE_UNSUPPORTED; }

TEST(CudaRefusals, AreThoseOfTheReferenceEngine) {
  const Library cuda_library(ENGINEHOST_CUDA_ENGINE), reference_library(plugin_path("reference"));
  const Engine cuda(cuda_library, test::build_path()), reference(reference_library, test::build_path());
  ASSERT_EQ(cuda.status, ENGINE_OK);
  const std::vector<gpu::Case> cases = gpu::all_cases(true);
  ASSERT_GT(cases.size(), 500u);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const gpu::Case& one = cases[i];
    const gpu::Inputs inputs(one, i);
    std::string by_reference, by_cuda;
    const engine_status expected = status_of(reference, one, inputs, by_reference);
    const engine_status found = status_of(cuda, one, inputs, by_cuda);
    // Without a device, a valid computation is unavailable.
    EXPECT_EQ(is_refusal(found), is_refusal(expected)) << one.text() << "\n"
                                                       << by_reference << "\n"
                                                       << by_cuda;
  }
}

}  // namespace
}  // namespace enginehost::engines::tests
