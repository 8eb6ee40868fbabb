// libengine_pytorch: PyTorch behind the plugin tables, through libtorch's C++ interface. Start reading at
// engine_plugin_v1, at the end. It works only with the release and C++ ABI that it was compiled for, because
// libtorch keeps neither stable.
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/csrc/api/include/torch/version.h>

#include <memory>

#include "engines/pytorch/cuda_part.hpp"
#include "engines/pytorch/instance.hpp"
#include "engines/support/options.hpp"
#include "engines/support/plugin.hpp"

namespace enginehost::engines::pytorch {
namespace {

// "threads": libtorch has one pool for the whole process, so the last engine that sets it decides.
void set_threads(const engine_host* host, const char* text, engine_call* call) {
  const int count = read_threads<Failure>(text, "libtorch", call);
  if (count == 0 || count == at::get_num_threads()) return;
  at::set_num_threads(count);
  if (host->log_level <= ENGINE_LOG_INFO)
    host->log(host, ENGINE_LOG_INFO, "threads", "libtorch's number of threads holds for the whole process.");
}

engine_status create(const engine_host* host, const engine_entry* options, size_t option_count,
                     engine_instance** out, engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, ENGINE_UNAVAILABLE, [&] {
    allow_options<Failure>("The engine pytorch has", options, option_count, {}, call);
    if (const char* threads = find_entry(options, option_count, "threads")) set_threads(host, threads, call);
    const std::string cuda_problem = load_cuda_part();
    if (!cuda_problem.empty() && host->log_level <= ENGINE_LOG_WARNING)
      host->log(host, ENGINE_LOG_WARNING, "cuda", cuda_problem.c_str());
    std::unique_ptr<engine_instance> engine(new engine_instance{host, list_devices(), {}, {}});
    auto fact = [&](const char* key, std::string value) {
      engine->facts.push_back({key, engine->texts.emplace_back(std::move(value)).c_str()});
    };
    fact("version", TORCH_VERSION);
    fact("cxx11_abi", _GLIBCXX_USE_CXX11_ABI != 0 ? "1" : "0");
    fact("threads", std::to_string(at::get_num_threads()));
    if (!cuda_problem.empty()) fact("cuda_part", cuda_problem);
    const at::CUDAHooksInterface& cuda = at::detail::getCUDAHooks();
    if (cuda.hasCUDA()) {
      long runtime = cuda.versionCUDART();
      fact("cuda", std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10));
      if (cuda.hasCuDNN()) fact("cudnn", std::to_string(cuda.versionCuDNN()));
    }
    *out = engine.release();
  });
}

constexpr Tables tables = {&device_table, &selftest_table, &tensor_table, &operation_table, &model_table};

constexpr const char* capabilities[] = {"device.cpu", "format.torchscript",
                                        "versions." ENGINEHOST_TORCH_VERSIONS, nullptr};

// Not UNLOADABLE: libtorch registers operators and starts threads that it never removes.
constexpr engine_plugin descriptor =
    describe_plugin("pytorch", 0, capabilities, create, destroy_instance<engine_instance>,
                    facts_in<engine_instance>, query<tables>);

}  // namespace
}  // namespace enginehost::engines::pytorch

using namespace enginehost::engines::pytorch;
extern "C" constexpr engine_plugin engine_plugin_v1 = descriptor;
