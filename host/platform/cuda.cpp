#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"
#include "host/platform/driver_answer.hpp"
#include "host/platform/nvidia_files.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

Fact<std::string> visible_devices() {
  auto value = environment_variable("CUDA_VISIBLE_DEVICES");
  if (!value) return Fact<std::string>::absent("CUDA_VISIBLE_DEVICES");
  return Fact<std::string>::known(std::move(*value), "CUDA_VISIBLE_DEVICES");
}

// Queries the driver in the probe and applies its answers, all of them or those up to a hang or crash.
void ask_driver(const Root& root, const LibrarySearch& libraries, const DetectRequest& request, Cuda& cuda) {
  ChildRequest child;
  child.argv = request.helper_launcher;
  const std::string nonce = random_hex(8);
  child.argv.insert(child.argv.end(), {path_text(request.helper), "drivers", "--nonce", nonce});
  // Passes the files that the host would load, because the probe's own search could find others.
  child.argv.insert(child.argv.end(), {"--libcuda", path_text(root.on_disk(cuda.library.value().path))});
  if (const auto nvml = find_nvml(root, libraries))
    child.argv.insert(child.argv.end(), {"--nvml", path_text(root.on_disk(*nvml))});
  child.environment = linker::loader_variables_for_child();
  child.deadline = request.driver_deadline;
  child.private_channel = true;
  child.discard_output = true;
  const auto outcome = run_child(child);
  if (!outcome)
    return apply_no_answer("the probe cannot be started: " + child.argv.front() + ": " +
                               std::string(outcome.error().value("os_said")),
                           cuda);
  const DriverAnswer answer = read_driver_answer(outcome->channel, nonce);
  const std::string why = answer.complete ? "" : why_no_answer(*outcome, request.driver_deadline);
  if (answer.document.is_null())
    apply_no_answer(why, cuda);
  else
    apply_driver_answer(answer.document, why, cuda);
}

// Sets the driver's facts without a query, because no file shows anything of NVIDIA.
void conclude_without_driver(const std::string& searched, Cuda& cuda) {
  using Devices = std::vector<CudaDevice>;
  cuda.driver_cuda = Fact<std::string>::absent(driver_library_name() + ": " + searched);
  cuda.init = Fact<std::string>::unknown("there is no " + driver_library_name() + " to ask");
  if (cuda.hardware.is_absent() && !cuda.driver.is_known())
    cuda.devices = Fact<Devices>::absent(cuda.hardware.source());
  else
    cuda.devices = Fact<Devices>::unknown("there is no " + driver_library_name() + " to ask: " + searched);
}

}  // namespace

Cuda detect_cuda(const Root& root, const LibrarySearch& libraries, const Fact<std::string>& wsl,
                 const DetectRequest& request) {
  Cuda cuda;
  cuda.visible_devices = visible_devices();
  cuda.driver = kernel_driver(root, wsl);
  cuda.hardware = nvidia_hardware(root, wsl);
  cuda.library = driver_library(root, libraries, cuda.driver);
  cuda.toolkits = detect_toolkits(root, libraries);
  cuda.cudnn = detect_cudnn(root, libraries, cuda.toolkits.value());

  if (!cuda.library.is_known()) {
    conclude_without_driver(cuda.library.source(), cuda);
  } else if (request.helper.empty()) {
    apply_no_answer("there is no probe to query the driver", cuda);
  } else {
    ask_driver(root, libraries, request, cuda);
  }
  return cuda;
}

}  // namespace enginehost::platform
