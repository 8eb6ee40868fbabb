// The CUDA rule: the driver decides. A toolkit that is installed on the machine is not considered.
#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/platform/platform.hpp"
#include "host/resolve/checks.hpp"
#include "host/resolve/nvidia_rules.hpp"

namespace enginehost::resolve {
namespace {

using manifest::CudaRequirement;
using platform::CudaDevice;

// WSL has the Windows driver, whose version numbers differ from those of Linux.
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

// The loader would use a toolkit's link stub, so this process cannot reach any driver.
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
  Check check = reported(std::move(requirement), observed, source);
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

// Returns whether a driver of the toolkit's major, but older than the toolkit, is covered by minor-version
// compatibility.
Answer keeps_minor_version_promise(int major, const Machine& machine) {
  // It does not apply to the driver of Linux for Tegra; cuda-compat packages replace it there.
  if (jetson_of(machine.platform)) return Answer::unknown;
  const std::string least = minor_version_driver(major, has_windows_driver(machine));
  if (least.empty()) return Answer::no;
  const auto& driver = machine.platform.cuda.driver;
  if (driver.is_known()) return compare_versions(driver.value(), least) >= 0 ? Answer::yes : Answer::no;
  // Without the driver's version: every CUDA above X.0 came with a driver that is new enough; 11.0 came
  // before.
  return major > 11 || compare_versions(machine.driver_cuda.value(), "11.1") >= 0 ? Answer::yes
                                                                                  : Answer::unknown;
}

// Returns the evidence for a driver that is too old: the toolkit, the driver, and the oldest sufficient
// driver.
std::vector<Evidence> too_old(const CudaRequirement& required, const Machine& machine) {
  const auto& newest = machine.driver_cuda;
  const auto& driver = machine.platform.cuda.driver;
  std::string least;  // the driver of Linux for Tegra is in no table, because it comes with the system
  if (!jetson_of(machine.platform))
    least = minor_version_driver(major_of(required.toolkit), has_windows_driver(machine));
  if (least.empty() && !jetson_of(machine.platform))
    least = native_driver(required.toolkit, has_windows_driver(machine));
  std::vector<Evidence> evidence = {{"required", required.toolkit, "manifest"},
                                    {"found", newest.value(), newest.source()},
                                    {"driver_cuda", newest.value(), newest.source()}};
  if (driver.is_known()) evidence.push_back({"driver", driver.value(), driver.source()});
  if (!least.empty()) evidence.push_back({"minimum_driver", least, "NVIDIA's table"});
  return evidence;
}

// First check: whether the driver can run this toolkit's libraries, and how.
CudaFit check_driver(const CudaRequirement& required, const Machine& machine, CheckFindings& findings) {
  const auto requirement = [&] { return "NVIDIA driver for CUDA " + required.toolkit; };
  const auto& newest = machine.driver_cuda;
  const bool is_stub = finds_stub(machine.platform.cuda);
  // The driver's answer may be unknown although it is certain that there is no driver (but not on a Jetson
  // before L4T 36, whose kernel driver reports no version).
  if (newest.is_absent() || is_stub ||
      (newest.is_unknown() && machine.platform.cuda.driver.is_absent() && !jetson_of(machine.platform))) {
    findings.note(Answer::no, is_stub ? "EH-G02" : "EH-G01",
                  [&] { return no_driver(requirement(), machine); });
    return CudaFit::none;
  }
  if (newest.is_unknown()) {
    findings.note_unknown([&] { return unanswered(requirement(), newest.why()); });
    return CudaFit::none;
  }
  const auto driver_is = [&](const char* how) {
    return reported(requirement(), driver_text(machine) + how, newest.source());
  };
  if (compare_versions(newest.value(), required.toolkit) >= 0) {
    findings.note(true, {}, [&] { return driver_is(""); });
    return CudaFit::native;
  }
  const int major = major_of(required.toolkit);
  const Answer promise =
      major_of(newest.value()) == major ? keeps_minor_version_promise(major, machine) : Answer::no;
  findings.note(promise, "EH-G03", [&] {
    if (promise == Answer::yes) return driver_is(", by minor-version compatibility");
    if (promise == Answer::unknown)
      return unanswered(requirement(),
                        jetson_of(machine.platform)
                            ? "this Jetson's driver is for CUDA " + newest.value() +
                                  "; a newer one of the same major needs the package cuda-compat"
                            : "the version of the driver for CUDA " + newest.value() + " is unknown");
    Check check = driver_is("");
    check.evidence = too_old(required, machine);
    return check;
  });
  return promise == Answer::no ? CudaFit::none : CudaFit::minor_version;
}

struct Served {
  Answer answer = Answer::no;
  bool only_ptx = false;              // PTX exists, but this driver cannot compile it
  const char* kind = "no code";       // "SASS ", "PTX "
  const std::string* code = nullptr;  // "8.6"

  std::string how() const {
    return kind + (code == nullptr ? std::string() : *code) +
           (only_ptx ? ", which this driver cannot compile" : "");
  }
};

// Second check, for one device: whether there is code that it can run.
Served serve(const CudaDevice& device, const CudaRequirement& required, bool ptx_compiles) {
  const auto capability = platform::parse_capability(device.compute_capability);
  if (!capability) return {Answer::unknown, false, "compute capability unknown", nullptr};
  for (const std::string& text : required.sass)
    if (const auto code = platform::parse_capability(text);
        code && platform::sass_runs_on(*code, *capability))
      return {Answer::yes, false, "SASS ", &text};
  for (const std::string& text : required.ptx)
    if (const auto code = platform::parse_capability(text); code && platform::ptx_runs_on(*code, *capability))
      return {ptx_compiles ? Answer::yes : Answer::no, !ptx_compiles, "PTX ", &text};
  return {};
}

std::string code_text(const CudaRequirement& required) {
  std::string text = join(required.sass, " ");
  for (const std::string& ptx : required.ptx) text += (text.empty() ? "" : " ") + ptx + "+PTX";
  return text;
}

// Returns the evidence for a build without code for any of the devices.
std::vector<Evidence> no_code(const CudaRequirement& required, bool only_ptx, const Machine& machine,
                              const std::vector<const CudaDevice*>& wanted) {
  const std::string text = code_text(required);
  const std::string& source = machine.platform.cuda.devices.source();
  std::vector<Evidence> evidence = {{"required", only_ptx ? required.toolkit : text, "manifest"},
                                    {"sass", text, "manifest"}};
  for (const CudaDevice* device : wanted) {
    evidence.push_back({"device", device->name, source});
    evidence.push_back({"compute_capability", device->compute_capability, source});
    evidence.push_back({"found", device->compute_capability, source});
  }
  if (machine.driver_cuda.is_known())
    evidence.push_back({"driver_cuda", machine.driver_cuda.value(), machine.driver_cuda.source()});
  return evidence;
}

Check nothing_visible(std::string requirement, const Machine& machine) {
  const platform::Cuda& cuda = machine.platform.cuda;
  const std::size_t count = cuda.devices.value().size();
  const auto& variable = cuda.visible_devices;
  const bool hidden = count != 0 && variable.is_known();
  const std::string observed = hidden ? "CUDA_VISIBLE_DEVICES=\"" + variable.value() + "\" leaves none of " +
                                            std::to_string(count) + " visible"
                                      : "no device";
  Check check =
      reported(std::move(requirement), observed, hidden ? variable.source() : cuda.devices.source());
  check.evidence = {{"found", observed, check.source}};
  if (variable.is_known()) check.evidence.push_back({"visible_devices", variable.value(), variable.source()});
  if (hidden) check.evidence.push_back({"devices", std::to_string(count), cuda.devices.source()});
  return check;
}

// Checks that there is code for one of the wanted GPUs. Returns those that there is code for. Nothing is
// returned while the devices or the code are unknown.
std::vector<const CudaDevice*> check_code(const CudaRequirement& required, CudaFit fit,
                                          const Machine& machine,
                                          const std::vector<const CudaDevice*>& wanted,
                                          CheckFindings& findings) {
  const auto& devices = machine.platform.cuda.devices;
  const VisibleDevices& visible = machine.visible;
  const bool is_listed = !required.sass.empty() || !required.ptx.empty();
  const auto requirement = [&] {
    return "code for a visible GPU: " + (is_listed ? code_text(required) : "not listed");
  };
  std::vector<const CudaDevice*> served;
  if (devices.is_unknown()) {
    findings.note_unknown([&] { return unanswered(requirement(), devices.why()); });
    return served;
  }
  if (visible.devices.empty()) {
    findings.note(Answer::no, "EH-G07", [&] { return nothing_visible(requirement(), machine); });
    return served;
  }
  if (!is_listed) {
    findings.note_unknown(
        [&] { return unanswered(requirement(), "the manifest does not list the code in this build"); });
    return served;
  }
  // The driver compiles PTX. A driver older than the toolkit does not know the toolkit's PTX version.
  const bool ptx_compiles = fit == CudaFit::native && !machine.ptx_jit_disabled;
  Answer best = Answer::no;
  bool only_ptx = false;
  for (const CudaDevice* device : wanted) {
    const Served one = serve(*device, required, ptx_compiles);
    if (one.answer == Answer::yes || (one.answer == Answer::unknown && best == Answer::no)) best = one.answer;
    if (one.answer != Answer::no) served.push_back(device);
    only_ptx = only_ptx || one.only_ptx;
  }
  // If the list of visible devices is uncertain, the served device may be hidden.
  if (best == Answer::yes && !visible.certain) best = Answer::unknown;
  findings.note(best, only_ptx ? "EH-G06" : "EH-G05", [&] {
    Check check = reported(requirement(), {}, devices.source());
    for (const CudaDevice* device : wanted) {
      if (!check.observed.empty()) check.observed += "; ";
      check.observed += device->name + " " + device->compute_capability + ": " +
                        serve(*device, required, ptx_compiles).how();
    }
    if (best == Answer::unknown && !visible.certain) check.source = visible.why;
    if (best == Answer::no) check.evidence = no_code(required, only_ptx, machine, wanted);
    for (const CudaDevice* device : wanted)
      if (best == Answer::yes && std::find(served.begin(), served.end(), device) == served.end())
        check.evidence.push_back({"unserved", device->compute_capability, devices.source()});
    return check;
  });
  return served;
}

// `wanted`: the GPUs that may be used.
void check_device_memory(std::uint64_t required, const Machine& machine,
                         const std::vector<const CudaDevice*>& wanted, CheckFindings& findings) {
  const auto& devices = machine.platform.cuda.devices;
  const auto requirement = [&] { return "device memory >= " + format_bytes(required); };
  std::uint64_t largest = 0;
  bool known = devices.is_known() && !wanted.empty();
  for (const CudaDevice* device : wanted) {
    largest = std::max(largest, device->memory);
    known = known && device->memory != 0;
  }
  if (!known && largest < required) {
    findings.note_unknown([&] {
      return unanswered(requirement(), devices.is_unknown() ? devices.why() : "not in the report");
    });
    return;
  }
  const bool holds = largest >= required;
  findings.note(holds, "EH-S08", [&] {
    Check check = reported(requirement(), format_bytes(largest), devices.source());
    if (!holds)
      check.evidence = {{"required", format_bytes(required), "manifest"},
                        {"found", check.observed, devices.source()}};
    return check;
  });
}

// Returns true if the build has no code for any of the GPUs, so that a newer driver would not help.
bool lacks_code_for(const std::vector<const CudaDevice*>& wanted, const CudaRequirement& required) {
  return !wanted.empty() && !(required.sass.empty() && required.ptx.empty()) &&
         std::all_of(wanted.begin(), wanted.end(), [&](const CudaDevice* device) {
           return serve(*device, required, true).answer == Answer::no;
         });
}

}  // namespace

std::vector<const CudaDevice*> wanted_gpus(const Question& question) {
  const std::vector<const CudaDevice*>& visible = question.machine.visible.devices;
  std::vector<const CudaDevice*> named;
  for (const std::string& device : question.devices) {
    constexpr std::string_view kind = "cuda:";
    if (!device.starts_with(kind)) continue;
    const auto index = parse_integer(std::string_view(device).substr(kind.size()));
    if (index && *index >= 0 && static_cast<std::size_t>(*index) < visible.size())
      named.push_back(visible[static_cast<std::size_t>(*index)]);
  }
  return named.empty() || !question.machine.visible.certain ? visible : named;
}

CudaChecked check_cuda(const manifest::Build& build, const Question& question, CheckFindings& findings) {
  const Machine& machine = question.machine;
  const auto& requirements = build.requires_;
  const auto& driver = machine.platform.cuda.driver;
  if (!requirements.cuda) {
    if (!requirements.driver.empty())
      note_version("NVIDIA driver", requirements.driver, driver, driver.is_absent() ? "EH-G01" : "EH-G03",
                   findings);
    return {};
  }
  std::vector<const CudaDevice*> wanted = wanted_gpus(question);
  // Nobody installs a driver for a build that cannot run on the card anyway.
  if (machine.platform.cuda.devices.is_known() && lacks_code_for(wanted, *requirements.cuda)) {
    check_code(*requirements.cuda, CudaFit::native, machine, wanted, findings);
    return {};
  }
  CudaChecked checked{check_driver(*requirements.cuda, machine, findings), 0};
  // Without a usable driver the device checks would only repeat that.
  if (findings.last() == Answer::no) return checked;
  if (!requirements.driver.empty())
    note_version("NVIDIA driver", requirements.driver, driver, "EH-G03", findings);
  const std::vector<const CudaDevice*> served =
      check_code(*requirements.cuda, checked.fit, machine, wanted, findings);
  if (!served.empty()) {
    checked.unserved = static_cast<int>(wanted.size() - served.size());
    wanted = served;  // a GPU without code for it does not offer its memory
  }
  if (requirements.device_memory != 0 && findings.last() != Answer::no)
    check_device_memory(requirements.device_memory, machine, wanted, findings);
  return checked;
}

}  // namespace enginehost::resolve
