// The CUDA rule: the driver decides. A toolkit that is installed on the machine is not considered.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/platform/driver_state.hpp"
#include "host/resolve/checks.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::resolve {
namespace {

using manifest::CudaRequirement;
using platform::CudaDevice;
using Devices = std::vector<const CudaDevice*>;

std::string driver_of(const vendor::Toolkit& toolkit, bool windows) {
  return windows ? toolkit.windows_driver : toolkit.linux_driver;
}

}  // namespace

std::string cuda_of_driver(std::string_view driver, bool windows) {
  for (const vendor::Toolkit& toolkit : vendor::in_use().toolkits)
    if (compare_versions(driver, driver_of(toolkit, windows)) >= 0) return toolkit.version;
  return {};
}

std::string native_driver(std::string_view version, bool windows) {
  for (const vendor::Toolkit& toolkit : vendor::in_use().toolkits)
    if (toolkit.version == version) return driver_of(toolkit, windows);
  return {};
}

std::string minor_version_driver(int toolkit_major, bool windows) {
  for (const vendor::MinorVersions& one : vendor::in_use().minor_versions)
    if (one.major == toolkit_major) return windows ? one.windows_driver : one.linux_driver;
  return {};
}

bool has_windows_driver(const platform::Platform& machine) {
  return machine.os.value() == "windows" || machine.wsl.is_known();
}

namespace {

int major_of(std::string_view version) {
  return static_cast<int>(parse_integer(version.substr(0, version.find('.'))).value_or(0));
}

// Notes that there is no usable driver, with the class and the facts of why_no_driver().
void note_no_driver(const std::string& requirement, const Machine& machine, Checks& checks) {
  const platform::Cuda& cuda = machine.platform.cuda;
  Diagnosis why = platform::why_no_driver(machine.platform);
  std::string observed = platform::obstacle_text(machine.platform);
  const std::string source = !observed.empty()                 ? cuda.library.source()
                             : machine.driver_cuda.is_absent() ? machine.driver_cuda.source()
                                                               : cuda.driver.source();
  if (observed.empty())
    observed = cuda.driver.is_known()
                   ? "driver " + cuda.driver.value() + ", but no " + std::string(why.value(Key::library))
                   : "no NVIDIA driver";
  else if (platform::driver_library_state(machine.platform) == platform::DriverLibrary::refused)
    observed = (cuda.driver.is_known() ? "driver " + cuda.driver.value() : "a driver") + ", but " + observed;
  Check& check = note(checks, Answer::no, why.code, reported(requirement, observed, source));
  check.evidence = std::move(why.evidence);
  check.evidence.push_back({Key::found, observed, source});
  if (!cuda.hardware.is_absent()) return;
  check.evidence.push_back({Key::pci_device, "none", cuda.hardware.source()});
  const platform::Platform& platform = machine.platform;
  if (platform.other_gpus.is_known())
    check.evidence.push_back({Key::other_gpu, platform.other_gpus.value(), platform.other_gpus.source()});
  else if (platform.rocm.is_known() && !platform.rocm.value().gfx.empty())
    check.evidence.push_back(
        {Key::other_gpu, "AMD " + join(platform.rocm.value().gfx, ", "), platform.rocm.source()});
}

// Returns whether a driver of the toolkit's major, but older than the toolkit, is covered by minor-version
// compatibility.
Answer keeps_minor_version_promise(int major, const Machine& machine) {
  // It does not apply to the driver of Linux for Tegra; cuda-compat packages replace it there.
  if (jetson_of(machine.platform)) return Answer::unknown;
  const std::string least = minor_version_driver(major, has_windows_driver(machine.platform));
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
  const bool windows = has_windows_driver(machine.platform);
  std::vector<Evidence> evidence = {{Key::required, required.toolkit, "manifest"},
                                    {Key::found, newest.value(), newest.source()},
                                    {Key::driver_cuda, newest.value(), newest.source()}};
  Diagnosis facts;
  platform::add_driver_facts(machine.platform, facts);
  std::move(facts.evidence.begin(), facts.evidence.end(), std::back_inserter(evidence));
  // The driver of Linux for Tegra is in no table, because it comes with the system.
  if (jetson_of(machine.platform)) return evidence;
  std::string least = minor_version_driver(major_of(required.toolkit), windows);
  if (least.empty()) least = native_driver(required.toolkit, windows);
  if (!least.empty()) evidence.push_back({Key::minimum_driver, least, "NVIDIA's table"});
  return evidence;
}

// First check: whether the driver can run this toolkit's libraries, and how.
CudaFit check_driver(const CudaRequirement& required, const Machine& machine, bool in_place, Checks& checks) {
  const std::string requirement = "NVIDIA driver for CUDA " + required.toolkit;
  const auto& newest = machine.driver_cuda;
  const auto& driver = machine.platform.cuda.driver;
  const platform::DriverLibrary library = platform::driver_library_state(machine.platform);
  // An installation on this machine may have a RUNPATH to the folder; the check before loading decides.
  const bool is_hidden =
      platform::hides_driver(library) && !(in_place && library == platform::DriverLibrary::not_searched);
  const bool is_jetson = jetson_of(machine.platform).has_value();
  // The driver's answer may be unknown although it is certain that there is no driver (but not on a Jetson
  // before L4T 36, whose kernel driver reports no version).
  if (newest.is_absent() || is_hidden || (newest.is_unknown() && driver.is_absent() && !is_jetson)) {
    note_no_driver(requirement, machine, checks);
    return CudaFit::none;
  }
  if (newest.is_unknown()) {
    note_unknown(checks, requirement, newest.why());
    return CudaFit::none;
  }
  const int major = major_of(required.toolkit);
  const bool is_native = compare_versions(newest.value(), required.toolkit) >= 0;
  const Answer answer = is_native                           ? Answer::yes
                        : major_of(newest.value()) == major ? keeps_minor_version_promise(major, machine)
                                                            : Answer::no;
  if (answer == Answer::unknown) {
    note_unknown(checks, requirement,
                 is_jetson ? "this Jetson's driver is for CUDA " + newest.value() +
                                 "; a newer one of the same major needs the package cuda-compat"
                           : "the version of the driver for CUDA " + newest.value() + " is unknown");
    return CudaFit::minor_version;
  }
  std::string found = "CUDA " + newest.value();
  if (driver.is_known()) found = "driver " + driver.value() + " (" + found + ")";
  if (answer == Answer::yes && !is_native) found += ", by minor-version compatibility";
  Check& check = note(checks, answer, Code::driver_too_old, reported(requirement, found, newest.source()));
  if (answer == Answer::no) check.evidence = too_old(required, machine);
  return is_native ? CudaFit::native : answer == Answer::yes ? CudaFit::minor_version : CudaFit::none;
}

struct Served {
  Answer answer = Answer::no;
  bool only_ptx = false;        // PTX exists, but this driver cannot compile it
  bool compiled = false;        // by this driver, from PTX
  std::string how = "no code";  // "SASS 8.6"
};

// Second check, for one device: whether there is code that it can run.
Served serve(const CudaDevice& device, const CudaRequirement& required, bool ptx_compiles) {
  const auto capability = platform::parse_capability(device.compute_capability);
  if (!capability) return {Answer::unknown, false, false, "compute capability unknown"};
  for (const std::string& text : required.sass)
    if (const auto code = platform::parse_capability(text);
        code && platform::sass_runs_on(*code, *capability))
      return {Answer::yes, false, false, "SASS " + text};
  for (const std::string& text : required.ptx)
    if (const auto code = platform::parse_capability(text); code && platform::ptx_runs_on(*code, *capability))
      return ptx_compiles
                 ? Served{Answer::yes, false, true, "PTX " + text}
                 : Served{Answer::no, true, false, "PTX " + text + ", which this driver cannot compile"};
  return {};
}

std::string code_text(const CudaRequirement& required) {
  std::string text = join(required.sass, " ");
  for (const std::string& ptx : required.ptx) text += (text.empty() ? "" : " ") + ptx + "+PTX";
  return text;
}

// Returns "12.8 or newer" or "9.0 to 12.9", the toolkits that compile for a GPU; empty for an unknown one.
std::string toolkits_for(const std::string& capability) {
  for (const vendor::Card& card : vendor::in_use().cards)
    if (card.capability == capability)
      return card.first + (card.last.empty() ? " or newer" : " to " + card.last);
  return {};
}

// Returns the evidence for a build without code for any of the devices.
std::vector<Evidence> no_code(const CudaRequirement& required, bool only_ptx, const Machine& machine,
                              const Devices& wanted) {
  const std::string text = code_text(required);
  const std::string& source = machine.platform.cuda.devices.source();
  std::vector<Evidence> evidence = {{Key::required, only_ptx ? required.toolkit : text, "manifest"},
                                    {Key::sass, text, "manifest"}};
  for (const CudaDevice* device : wanted) {
    evidence.push_back({Key::device, device->name, source});
    evidence.push_back({Key::compute_capability, device->compute_capability, source});
    evidence.push_back({Key::found, device->compute_capability, source});
    if (std::string toolkits = toolkits_for(device->compute_capability); !toolkits.empty())
      evidence.push_back({Key::toolkits, std::move(toolkits), "NVIDIA's table"});
  }
  if (machine.driver_cuda.is_known())
    evidence.push_back({Key::driver_cuda, machine.driver_cuda.value(), machine.driver_cuda.source()});
  return evidence;
}

Check nothing_visible(const std::string& requirement, const Machine& machine) {
  const platform::Cuda& cuda = machine.platform.cuda;
  const std::size_t count = cuda.devices.value().size();
  const auto& variable = cuda.visible_devices;
  const bool hidden = count != 0 && variable.is_known();
  const std::string observed = hidden ? "CUDA_VISIBLE_DEVICES=\"" + variable.value() + "\" leaves none of " +
                                            std::to_string(count) + " visible"
                                      : "no device";
  Check check = reported(requirement, observed, hidden ? variable.source() : cuda.devices.source());
  check.evidence = {{Key::found, observed, check.source}};
  if (variable.is_known())
    check.evidence.push_back({Key::visible_devices, variable.value(), variable.source()});
  if (hidden) check.evidence.push_back({Key::devices, std::to_string(count), cuda.devices.source()});
  Diagnosis facts;
  platform::add_driver_facts(machine.platform, facts);
  platform::add_device_facts(machine.platform, facts);
  std::move(facts.evidence.begin(), facts.evidence.end(), std::back_inserter(check.evidence));
  return check;
}

// The GPUs that a build should have code for.
struct Wanted {
  Devices gpus;
  bool named = false;  // the request names them as "cuda:N"; the engine uses the first
};

std::string name_of(const CudaDevice& device, const Machine& machine) {
  const Devices& visible = machine.visible.devices;
  const auto at = std::ranges::find(visible, &device) - visible.begin();
  return "cuda:" + std::to_string(at) + " (" + device.name + ", " + device.compute_capability + ")";
}

// Checks that there is code for one of the wanted GPUs, or for the first that the request names. Returns
// those that there is code for. Nothing is returned while the devices or the code are unknown.
Devices check_code(const CudaRequirement& required, CudaFit fit, const Machine& machine, const Wanted& wanted,
                   Checks& checks) {
  const auto& devices = machine.platform.cuda.devices;
  const VisibleDevices& visible = machine.visible;
  const bool is_listed = !required.sass.empty() || !required.ptx.empty();
  const std::string requirement =
      (wanted.named ? "code for the requested visible GPU: " : "code for a visible GPU: ") +
      (is_listed ? code_text(required) : "not listed");
  Devices served;
  if (devices.is_unknown()) {
    note_unknown(checks, requirement, devices.why()).code = platform::class_of_init(machine.platform);
    return served;
  }
  if (visible.devices.empty()) {
    note(checks, Answer::no, Code::no_gpu_visible, nothing_visible(requirement, machine));
    return served;
  }
  if (!is_listed) {
    note_unknown(checks, requirement, "the manifest does not list the code in this build");
    return served;
  }
  // The driver compiles PTX. A driver older than the toolkit does not know the toolkit's PTX version.
  const bool ptx_compiles = fit == CudaFit::native && !machine.ptx_jit_disabled;
  Answer best = Answer::no;
  bool only_ptx = false;
  std::vector<std::string> found;
  std::vector<Evidence> unserved, compiled;
  for (const CudaDevice* device : wanted.gpus) {
    const Served one = serve(*device, required, ptx_compiles);
    const bool decides = !wanted.named || device == wanted.gpus.front();
    if (decides && (one.answer == Answer::yes || (one.answer == Answer::unknown && best == Answer::no)))
      best = one.answer;
    if (one.compiled) compiled.push_back({Key::compiled_for, name_of(*device, machine), devices.source()});
    if (one.answer != Answer::no) {
      served.push_back(device);
    } else {
      unserved.push_back({Key::unserved, device->compute_capability, devices.source()});
      if (wanted.named)
        unserved.push_back({Key::unserved_device, name_of(*device, machine), devices.source()});
    }
    only_ptx = only_ptx || one.only_ptx;
    found.push_back(device->name + " " + device->compute_capability + ": " + one.how);
  }
  // If the list of visible devices is uncertain, the served device may be hidden.
  const bool may_be_hidden = best == Answer::yes && !visible.certain;
  if (may_be_hidden) best = Answer::unknown;
  Check& check = note(checks, best, only_ptx ? Code::gpu_code_newer_than_driver : Code::no_code_for_gpu,
                      reported(requirement, join(found, "; "), devices.source()));
  if (best == Answer::unknown && !visible.certain) check.source = visible.why;
  if (best == Answer::no)
    check.evidence =
        no_code(required, only_ptx, machine, wanted.named ? Devices{wanted.gpus.front()} : wanted.gpus);
  if (best == Answer::yes)
    for (auto* facts : {&unserved, &compiled})
      std::move(facts->begin(), facts->end(), std::back_inserter(check.evidence));
  return best == Answer::no ? Devices() : served;
}

// `wanted`: the GPUs that may be used.
void check_device_memory(std::uint64_t required, const Machine& machine, const Devices& wanted,
                         Checks& checks) {
  const auto& devices = machine.platform.cuda.devices;
  const std::string requirement = "device memory >= " + format_bytes(required);
  std::uint64_t largest = 0;
  bool known = devices.is_known() && !wanted.empty();
  for (const CudaDevice* device : wanted) {
    largest = std::max(largest, device->memory);
    known = known && device->memory != 0;
  }
  if (!known && largest < required)
    note_unknown(checks, requirement, devices.is_unknown() ? devices.why() : "not in the report");
  else
    note(checks, largest >= required, Code::not_enough_device_memory,
         compared(requirement, format_bytes(largest), devices.source(), format_bytes(required)));
}

// Returns true if the build has no code for the GPUs, so that a newer driver would not help.
bool lacks_code_for(const Wanted& wanted, const CudaRequirement& required) {
  const auto lacks = [&](const CudaDevice* device) {
    return serve(*device, required, true).answer == Answer::no;
  };
  const Devices& gpus = wanted.gpus;
  return !gpus.empty() && !(required.sass.empty() && required.ptx.empty()) &&
         (wanted.named ? lacks(gpus.front()) : std::all_of(gpus.begin(), gpus.end(), lacks));
}

// Returns the GPUs that a build must have code for: those that the request names as "cuda:N", else all
// visible ones. A number that no visible device has is left to check_device().
Wanted wanted_gpus(const Question& question) {
  const Devices& visible = question.machine.visible.devices;
  Devices named;
  for (const std::string& device : question.devices) {
    constexpr std::string_view kind = "cuda:";
    if (!device.starts_with(kind)) continue;
    const auto index = parse_integer(std::string_view(device).substr(kind.size()));
    if (index && *index >= 0 && static_cast<std::size_t>(*index) < visible.size())
      named.push_back(visible[static_cast<std::size_t>(*index)]);
  }
  if (named.empty() || !question.machine.visible.certain) return {visible, false};
  return {std::move(named), true};
}

}  // namespace

CudaChecked check_cuda(const manifest::Build& build, const Question& question, Checks& checks) {
  const Machine& machine = question.machine;
  const auto& requirements = build.requires_;
  const auto& driver = machine.platform.cuda.driver;
  if (!requirements.cuda) {
    if (!requirements.driver.empty())
      note_version("NVIDIA driver", requirements.driver, driver,
                   driver.is_absent() ? Code::driver_not_found : Code::driver_too_old, checks);
    return {};
  }
  const Wanted wanted = wanted_gpus(question);
  // Nobody installs a driver for a build that cannot run on the card anyway.
  if (machine.platform.cuda.devices.is_known() && lacks_code_for(wanted, *requirements.cuda)) {
    check_code(*requirements.cuda, CudaFit::native, machine, wanted, checks);
    return {};
  }
  CudaChecked checked{check_driver(*requirements.cuda, machine, build.in_place != nullptr, checks), 0};
  // Without a usable driver the device checks would only repeat that.
  if (checks.back().result == Answer::no) return checked;
  if (!requirements.driver.empty())
    note_version("NVIDIA driver", requirements.driver, driver, Code::driver_too_old, checks);
  const Devices served = check_code(*requirements.cuda, checked.fit, machine, wanted, checks);
  if (!served.empty()) checked.unserved = static_cast<int>(wanted.gpus.size() - served.size());
  if (requirements.device_memory != 0 && checks.back().result != Answer::no)
    // A GPU without code for it does not offer its memory.
    check_device_memory(requirements.device_memory, machine, served.empty() ? wanted.gpus : served, checks);
  return checked;
}

}  // namespace enginehost::resolve
