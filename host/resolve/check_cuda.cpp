// The CUDA rule: the driver decides. A toolkit found on the machine never does; it is not even looked at
// here.
#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

using manifest::CudaRequirement;
using platform::CudaDevice;

// WSL has the Windows driver, whose numbers differ from those of Linux.
bool has_windows_driver(const Machine& machine) {
  return machine.platform.os.value() == "windows" || machine.platform.wsl.is_known();
}

int major_of(std::string_view version) {
  return static_cast<int>(parse_integer(version.substr(0, version.find('.'))).value_or(0));
}

std::string driver_text(const Machine& machine) {
  const auto& driver = machine.platform.cuda.driver;
  const std::string cuda =
      machine.driver_cuda.is_known() ? "CUDA " + machine.driver_cuda.value() : "CUDA unknown";
  return driver.is_known() ? "driver " + driver.value() + " (" + cuda + ")" : cuda;
}

// The loader would take a toolkit's link stub: whatever driver there is, this process does not reach it.
bool finds_stub(const platform::Cuda& cuda) {
  return cuda.library.is_known() && cuda.library.value().note.find("stub") != std::string::npos;
}

Check no_driver(std::string requirement, const Machine& machine) {
  const platform::Cuda& cuda = machine.platform.cuda;
  const bool is_stub = finds_stub(cuda);
  const std::string source =
      machine.driver_cuda.is_absent() ? machine.driver_cuda.source() : cuda.driver.source();
  const std::string library = machine.platform.os.value() == "windows" ? "nvcuda.dll" : "libcuda.so.1";
  const std::string observed = is_stub ? "only a stub: " + cuda.library.value().path
                               : cuda.driver.is_known()
                                   ? "driver " + cuda.driver.value() + ", but no " + library
                                   : "no NVIDIA driver";
  Check check = answered(std::move(requirement), observed, source, false, is_stub ? "EH-G02" : "EH-G01");
  check.evidence = {{"library", library, "the CUDA runtime"}, {"found", observed, source}};
  if (is_stub) check.evidence.push_back({"path", cuda.library.value().path, cuda.library.source()});
  if (cuda.hardware.is_known())
    check.evidence.push_back({"pci_device", cuda.hardware.value(), cuda.hardware.source()});
  if (cuda.hardware.is_absent()) check.evidence.push_back({"pci_device", "none", cuda.hardware.source()});
  if (machine.platform.container.is_known())
    check.evidence.push_back(
        {"container", machine.platform.container.value(), machine.platform.container.source()});
  return check;
}

// Whether a driver of the toolkit's major, but older than the toolkit, keeps NVIDIA's minor-version promise.
Answer keeps_minor_version_promise(int major, const Machine& machine) {
  const std::string least = minor_version_driver(major, has_windows_driver(machine));
  if (least.empty()) return Answer::no;
  const auto& driver = machine.platform.cuda.driver;
  if (driver.is_known()) return compare_versions(driver.value(), least) >= 0 ? Answer::yes : Answer::no;
  // Without the driver's version: any CUDA above X.0 came with a driver newer than the promise's; 11.0 came
  // before it.
  return major > 11 || compare_versions(machine.driver_cuda.value(), "11.1") >= 0 ? Answer::yes
                                                                                  : Answer::unknown;
}

// The first gate: can the driver run this toolkit's libraries at all, and how.
CudaFit check_driver(const CudaRequirement& required, const Machine& machine, Checks& checks) {
  const std::string requirement = "NVIDIA driver for CUDA " + required.toolkit;
  const auto& newest = machine.driver_cuda;
  if (newest.is_absent() || finds_stub(machine.platform.cuda)) {
    checks.push_back(no_driver(requirement, machine));
    return CudaFit::none;
  }
  if (newest.is_unknown()) {
    // The driver's own answer is unknown, but that there is none at all can be certain.
    const bool none_there = machine.platform.cuda.driver.is_absent();
    checks.push_back(none_there ? no_driver(requirement, machine) : unanswered(requirement, newest.why()));
    return CudaFit::none;
  }
  if (compare_versions(newest.value(), required.toolkit) >= 0) {
    checks.push_back(answered(requirement, driver_text(machine), newest.source(), true, ""));
    return CudaFit::native;
  }
  const int major = major_of(required.toolkit);
  const Answer promise =
      major_of(newest.value()) == major ? keeps_minor_version_promise(major, machine) : Answer::no;
  if (promise == Answer::unknown) {
    checks.push_back(
        unanswered(requirement, "the version of the driver for CUDA " + newest.value() + " is unknown"));
    return CudaFit::minor_version;
  }
  if (promise == Answer::yes) {
    checks.push_back(answered(requirement, driver_text(machine) + ", by minor-version compatibility",
                              newest.source(), true, ""));
    return CudaFit::minor_version;
  }
  Check check = answered(requirement, driver_text(machine), newest.source(), false, "EH-G03");
  std::string least = minor_version_driver(major, has_windows_driver(machine));
  if (least.empty()) least = native_driver(required.toolkit, has_windows_driver(machine));
  check.evidence = {{"required", required.toolkit, "manifest"},
                    {"found", newest.value(), newest.source()},
                    {"driver_cuda", newest.value(), newest.source()}};
  if (machine.platform.cuda.driver.is_known())
    check.evidence.push_back(
        {"driver", machine.platform.cuda.driver.value(), machine.platform.cuda.driver.source()});
  if (!least.empty()) check.evidence.push_back({"minimum_driver", least, "NVIDIA's table"});
  checks.push_back(std::move(check));
  return CudaFit::none;
}

struct Served {
  Answer answer = Answer::no;
  bool only_ptx = false;  // PTX would suit, but this driver cannot compile it
  std::string how;        // "SASS 8.6", "PTX 8.0", "no code"
};

// The second gate, for one device: is there code that it can run.
Served serve(const CudaDevice& device, const CudaRequirement& required, bool ptx_compiles) {
  const auto capability = parse_capability(device.compute_capability);
  if (!capability) return {Answer::unknown, false, "compute capability unknown"};
  for (const std::string& text : required.sass)
    if (const auto code = parse_capability(text); code && sass_runs_on(*code, *capability))
      return {Answer::yes, false, "SASS " + text};
  for (const std::string& text : required.ptx)
    if (const auto code = parse_capability(text); code && ptx_runs_on(*code, *capability))
      return ptx_compiles ? Served{Answer::yes, false, "PTX " + text}
                          : Served{Answer::no, true, "PTX " + text + ", which this driver cannot compile"};
  return {Answer::no, false, "no code"};
}

std::string code_text(const CudaRequirement& required) {
  std::string text = join(required.sass, " ");
  for (const std::string& ptx : required.ptx) text += (text.empty() ? "" : " ") + ptx + "+PTX";
  return text;
}

Check nothing_visible(std::string requirement, const Machine& machine) {
  const platform::Cuda& cuda = machine.platform.cuda;
  const std::size_t count = cuda.devices.value().size();
  const auto& variable = cuda.visible_devices;
  const bool hidden = count != 0 && variable.is_known();
  const std::string observed = hidden ? "CUDA_VISIBLE_DEVICES=\"" + variable.value() + "\" leaves none of " +
                                            std::to_string(count) + " visible"
                                      : "no device";
  Check check = answered(std::move(requirement), observed, hidden ? variable.source() : cuda.devices.source(),
                         false, "EH-G07");
  check.evidence = {{"found", observed, check.source}};
  if (variable.is_known()) check.evidence.push_back({"visible_devices", variable.value(), variable.source()});
  if (hidden) check.evidence.push_back({"devices", std::to_string(count), cuda.devices.source()});
  return check;
}

void check_code(const CudaRequirement& required, CudaFit fit, const Machine& machine, Checks& checks) {
  const std::string text = code_text(required);
  std::string requirement = "code for a visible GPU: " + (text.empty() ? "not listed" : text);
  const auto& devices = machine.platform.cuda.devices;
  if (devices.is_unknown()) {
    checks.push_back(unanswered(std::move(requirement), devices.why()));
    return;
  }
  const VisibleDevices& visible = machine.visible;
  if (visible.devices.empty()) {
    checks.push_back(nothing_visible(std::move(requirement), machine));
    return;
  }
  if (text.empty()) {
    checks.push_back(unanswered(std::move(requirement), "the manifest does not list the code in this build"));
    return;
  }
  // PTX is compiled by the driver, and an older driver does not know the language of a newer toolkit.
  const bool ptx_compiles = fit == CudaFit::native && !machine.ptx_jit_disabled;
  Answer best = Answer::no;
  bool only_ptx = false;
  std::string observed;
  for (const CudaDevice* device : visible.devices) {
    const Served served = serve(*device, required, ptx_compiles);
    if (served.answer == Answer::yes || (served.answer == Answer::unknown && best == Answer::no))
      best = served.answer;
    only_ptx = only_ptx || served.only_ptx;
    if (!observed.empty()) observed += "; ";
    observed += device->name + " " + device->compute_capability + ": " + served.how;
  }
  // With a list of visible devices that cannot be judged, the served device may be a hidden one.
  if (best == Answer::yes && !visible.certain) best = Answer::unknown;
  Check check = answered(std::move(requirement), std::move(observed), devices.source(), best != Answer::no,
                         only_ptx ? "EH-G06" : "EH-G05");
  check.result = best;
  if (best == Answer::unknown && !visible.certain) check.source = visible.why;
  if (best == Answer::no) {
    check.evidence = {{"required", only_ptx ? required.toolkit : text, "manifest"},
                      {"sass", text, "manifest"}};
    for (const CudaDevice* device : visible.devices) {
      check.evidence.push_back({"device", device->name, devices.source()});
      check.evidence.push_back({"compute_capability", device->compute_capability, devices.source()});
      check.evidence.push_back({"found", device->compute_capability, devices.source()});
    }
    if (machine.driver_cuda.is_known())
      check.evidence.push_back({"driver_cuda", machine.driver_cuda.value(), machine.driver_cuda.source()});
  }
  checks.push_back(std::move(check));
}

void check_device_memory(std::uint64_t required, const Machine& machine, Checks& checks) {
  const auto& devices = machine.platform.cuda.devices;
  std::string requirement = "device memory >= " + format_bytes(required);
  std::uint64_t largest = 0;
  bool known = devices.is_known() && !machine.visible.devices.empty();
  for (const CudaDevice* device : machine.visible.devices) {
    largest = std::max(largest, device->memory);
    known = known && device->memory != 0;
  }
  if (!known && largest < required) {
    checks.push_back(
        unanswered(std::move(requirement), devices.is_unknown() ? devices.why() : "not in the report"));
    return;
  }
  checks.push_back(answered(std::move(requirement), format_bytes(largest), devices.source(),
                            largest >= required, "EH-S08"));
  if (checks.back().result == Answer::no)
    checks.back().evidence = {{"required", format_bytes(required), "manifest"},
                              {"found", format_bytes(largest), devices.source()}};
}

}  // namespace

CudaFit check_cuda(const manifest::Build& build, const Machine& machine, Checks& checks) {
  const auto& requirements = build.requires_;
  if (!requirements.cuda) {
    if (!requirements.driver.empty())
      checks.push_back(version_check("NVIDIA driver", requirements.driver, machine.platform.cuda.driver,
                                     machine.platform.cuda.driver.is_absent() ? "EH-G01" : "EH-G03"));
    return CudaFit::none;
  }
  const std::size_t before = checks.size();
  const CudaFit fit = check_driver(*requirements.cuda, machine, checks);
  // Without a usable driver nothing can be said of devices that would not repeat it.
  if (checks[before].result == Answer::no) return fit;
  if (!requirements.driver.empty())
    checks.push_back(
        version_check("NVIDIA driver", requirements.driver, machine.platform.cuda.driver, "EH-G03"));
  check_code(*requirements.cuda, fit, machine, checks);
  if (requirements.device_memory != 0 && checks.back().result != Answer::no)
    check_device_memory(requirements.device_memory, machine, checks);
  return fit;
}

}  // namespace enginehost::resolve
