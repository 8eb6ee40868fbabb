#include "host/platform/parts.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"
#include "host/platform/driver_state.hpp"

namespace enginehost::platform {
namespace {

using Devices = std::vector<CudaDevice>;

constexpr std::int64_t stub_library = 34, no_device = 100, invalid_device = 101;

// The driver's texts (cuda.h, CUresult), for libraries that are too old or too broken to return them.
std::string error_text(const Json& init) {
  static constexpr std::pair<std::int64_t, const char*> texts[] = {
      {3, "initialization error"},
      {stub_library, "CUDA driver is a stub library"},
      {35, "CUDA driver version is insufficient for CUDA runtime version"},
      {46, "CUDA-capable device(s) is/are busy or unavailable"},
      {no_device, "no CUDA-capable device is detected"},
      {invalid_device, "invalid device ordinal"},
      {304, "OS call failed or operation not supported on this OS"},
      {802, "system not yet initialized"},
      {803, "system has unsupported display driver / cuda driver combination"},
      {804, "forward compatibility was attempted on non supported HW"},
      {999, "unknown error"}};
  if (const std::string& text = init["text"].as_string(); !text.empty()) return text;
  for (const auto& [code, text] : texts)
    if (code == init["code"].as_integer()) return text;
  return init["name"].as_string().empty() ? "no text for it" : init["name"].as_string();
}

std::string init_sentence(const Json& init) {
  return "cuInit said " + std::to_string(init["code"].as_integer()) + " (" + error_text(init) + ")";
}

Devices devices_of(const Json& list, bool visible) {
  Devices devices;
  for (const Json& entry : list.as_array()) {
    CudaDevice device;
    device.index = static_cast<int>(entry["index"].as_integer());
    device.name = entry["name"].as_string();
    device.compute_capability = entry["compute_capability"].as_string();
    device.uuid = entry["uuid"].as_string();
    device.memory = static_cast<std::uint64_t>(std::max<std::int64_t>(0, entry["memory"].as_integer()));
    device.visible = visible;
    devices.push_back(std::move(device));
  }
  return devices;
}

// NVML lists every card, but the driver only those that are not hidden. Their indices differ
// (CUDA_DEVICE_ORDER, renumbering from 0), so devices are matched by UUID. Visible devices come first and in
// the driver's order, because CUDA counts like that.
Devices merge(const Devices& shown, Devices machine) {
  Devices merged;
  for (const CudaDevice& device : shown) {
    const auto same = std::find_if(machine.begin(), machine.end(), [&](const CudaDevice& other) {
      return !device.uuid.empty() && other.uuid == device.uuid;
    });
    if (same == machine.end()) {
      merged.push_back(device);  // part of a card (MIG), which has its own UUID
      continue;
    }
    same->visible = true;
    if (!device.compute_capability.empty()) same->compute_capability = device.compute_capability;
    if (device.memory != 0)
      same->memory = device.memory;  // what programs can use; NVML also counts reserved memory
    merged.push_back(std::move(*same));
    machine.erase(same);
  }
  std::move(machine.begin(), machine.end(), std::back_inserter(merged));
  return merged;
}

void apply_library(const Json& answer, Cuda& cuda) {
  const std::string& mapped = answer["cuda"]["library"]["path"].as_string();
  const bool stub = answer["cuda"]["init"]["code"].as_integer() == stub_library;
  if (mapped.empty() || (!stub && cuda.library.is_known())) return;
  Installed library = cuda.library.value();
  if (!cuda.library.is_known()) library.path = mapped;
  if (stub) library.note = "stub";
  cuda.library =
      Fact<Installed>::known(std::move(library), cuda.library.is_known() ? cuda.library.source() : "dlopen");
}

void apply_versions(const Json& answer, const std::string& why_incomplete, Cuda& cuda) {
  const Json& nvml = answer["nvml"];
  if (!cuda.driver.is_known())
    if (const std::string& version = nvml["driver_version"].as_string(); !version.empty())
      cuda.driver = Fact<std::string>::known(version, "nvmlSystemGetDriverVersion");

  const Json& reply = answer["cuda"]["driver_version"];
  const std::string& library = answer["cuda"]["library"]["path"].as_string();
  if (reply["code"].as_integer(-1) == 0 && reply["value"].as_integer() > 0)
    cuda.driver_cuda = Fact<std::string>::known(cuda_version_text(reply["value"].as_integer()),
                                                "cuDriverGetVersion of " + library);
  else if (const std::int64_t number = nvml["cuda_version"].as_integer(); number > 0)
    cuda.driver_cuda =
        Fact<std::string>::known(cuda_version_text(number), "nvmlSystemGetCudaDriverVersion_v2");
  else if (!reply.is_null() && reply["code"].as_integer() == stub_library)
    cuda.driver_cuda = Fact<std::string>::absent(library + " is a stub library, not a driver");
  else if (!reply.is_null())
    cuda.driver_cuda = Fact<std::string>::unknown("cuDriverGetVersion of " + library + " said " +
                                                  std::to_string(reply["code"].as_integer()));
  else if (!why_incomplete.empty())
    cuda.driver_cuda = Fact<std::string>::unknown(why_incomplete);
  else
    cuda.driver_cuda =
        Fact<std::string>::unknown(library.empty() ? answer["cuda"]["library"]["error"].as_string()
                                                   : library + " has no cuDriverGetVersion");
}

std::string hidden_by(const Cuda& cuda) {
  if (!cuda.visible_devices.is_known()) return {};
  return ", CUDA_VISIBLE_DEVICES=\"" + cuda.visible_devices.value() + "\"";
}

// NVML's list does not show which devices are usable, but it shows that the machine has some.
std::string listed_by_nvml(const Devices& machine) {
  std::string text;
  for (const CudaDevice& device : machine) {
    text += (text.empty() ? "; NVML lists " : ", ") + device.name;
    if (!device.compute_capability.empty()) text += " (" + device.compute_capability + ")";
  }
  return text;
}

void apply_devices(const Json& answer, const std::string& why_incomplete, Cuda& cuda) {
  using Fact = platform::Fact<Devices>;
  const Json& reply = answer["cuda"];
  const Devices machine = devices_of(answer["nvml"]["devices"], false);
  const bool said_no = !reply["init"].is_null() && reply["init"]["code"].as_integer() != 0;
  if (!why_incomplete.empty() && !said_no) {
    cuda.devices = Fact::unknown(why_incomplete + listed_by_nvml(machine));
    cuda.init = reply["init"].is_null() ? platform::Fact<std::string>::unknown(why_incomplete)
                                        : platform::Fact<std::string>::known(
                                              "0", "cuInit of " + reply["library"]["path"].as_string());
    return;
  }
  if (!reply["library"]["error"].as_string().empty()) {
    cuda.devices = Fact::unknown(reply["library"]["error"].as_string());
    return;
  }
  if (reply["init"].is_null()) {
    cuda.devices = Fact::unknown(reply["library"]["path"].as_string() + " has no cuInit");
    return;
  }
  const std::int64_t code = reply["init"]["code"].as_integer();
  cuda.init = platform::Fact<std::string>::known(std::to_string(code),
                                                 "cuInit of " + reply["library"]["path"].as_string());
  if (code == no_device || code == invalid_device) {
    const std::string source = init_sentence(reply["init"]) + hidden_by(cuda);
    cuda.devices = machine.empty() ? Fact::absent(source) : Fact::known(machine, "NVML; " + source);
    return;
  }
  if (code != 0) {
    cuda.devices = Fact::unknown(init_sentence(reply["init"]));
    return;
  }
  const Devices shown = devices_of(reply["devices"], true);
  if (machine.empty()) {
    if (shown.empty())
      cuda.devices = Fact::absent("cuInit succeeded, cuDeviceGetCount is 0" + hidden_by(cuda));
    else
      cuda.devices = Fact::known(shown, "cuDeviceGet" + hidden_by(cuda));
    return;
  }
  const Devices merged = merge(shown, machine);
  const bool all_shown =
      std::all_of(merged.begin(), merged.end(), [](const auto& device) { return device.visible; });
  // If nothing is hidden, the driver's order is better, because "cuda:1" refers to it.
  if (all_shown && !cuda.visible_devices.is_known() && merged.size() == shown.size())
    cuda.devices = Fact::known(shown, "cuDeviceGet");
  else
    cuda.devices = Fact::known(merged, "NVML and cuDeviceGet, matched by UUID" + hidden_by(cuda));
}

}  // namespace

DriverAnswer read_driver_answer(const std::string& lines, const std::string& nonce) {
  DriverAnswer answer;
  for (const std::string& line : split(lines, '\n')) {
    if (line.empty()) continue;
    const auto parsed = parse_json(line, "the probe's answer");
    if (!parsed || (*parsed)["nonce"].as_string() != nonce) continue;
    if (answer.document.is_null()) answer.document = Json::object();
    answer.complete |= (*parsed)["done"].as_bool();
    for (const char* library : {"cuda", "nvml"}) {
      Json known = answer.document[library];
      for (const auto& [what, value] : (*parsed)[library].as_object()) {
        Json longer = value.is_array() ? known[what] : Json();
        for (const Json& element : value.as_array()) longer.push(element);
        known.set(what, value.is_array() ? std::move(longer) : value);
      }
      if (!known.is_null()) answer.document.set(library, std::move(known));
    }
  }
  return answer;
}

void apply_driver_answer(const Json& answer, const std::string& why_incomplete, Cuda& cuda) {
  apply_library(answer, cuda);
  apply_versions(answer, why_incomplete, cuda);
  apply_devices(answer, why_incomplete, cuda);
}

void apply_no_answer(const std::string& why, Cuda& cuda) {
  cuda.driver_cuda = Fact<std::string>::unknown(why);
  cuda.devices = Fact<Devices>::unknown(why);
  cuda.init = Fact<std::string>::unknown(why);
}

std::string why_no_answer(const ChildOutcome& outcome, std::chrono::milliseconds deadline) {
  if (outcome.timed_out) {
    const auto count = deadline.count();
    const std::string time =
        count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
    return std::string(driver_is_silent) + time +
           (outcome.survived_kill ? " and its process cannot be ended" : "");
  }
  if (outcome.exception != 0) {
    char number[16];
    std::snprintf(number, sizeof number, "0x%08X", static_cast<unsigned>(outcome.exception));
    return std::string("the driver's library crashed the probe (exception ") + number + ")";
  }
  if (outcome.signal != 0)
    return "the driver's library crashed the probe (" + signal_name(outcome.signal) + ")";
  if (outcome.status_lost)
    return "the probe ended without an answer, and how it ended is not known: " + std::string(lost_status);
  if (outcome.exit_code != 0) {
    const std::string said(trim(std::string_view(outcome.error).substr(0, 200)));
    return "the probe ended with status " + std::to_string(outcome.exit_code) +
           (said.empty() ? "" : ": " + said);
  }
  return "the probe ended without an answer";
}

std::string cuda_version_text(std::int64_t number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

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
                               std::string(outcome.error().value(Key::os_said)),
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
  } else if (cuda.library.value().note == empty_note) {
    conclude_without_driver(cuda.library.value().path + " " + empty_library, cuda);
  } else if (request.helper.empty()) {
    apply_no_answer("there is no probe to query the driver", cuda);
  } else {
    ask_driver(root, libraries, request, cuda);
  }
  return cuda;
}

}  // namespace enginehost::platform
