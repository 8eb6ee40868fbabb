#include "host/platform/driver_state.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace enginehost::platform {
namespace {

bool has_note(const Fact<Installed>& library, std::string_view note) {
  return library.is_known() && library.value().note.find(note) != std::string::npos;
}

// A package of Linux names its file by its version; Windows's library in WSL has none. A library of
// cuda-compat has a version too, and EH-G10 is about it.
bool hides_windows(const Platform& platform) {
  const Installed& library = platform.cuda.library.value();
  return platform.wsl.is_known() && !library.version.empty() && !library.path.starts_with(wsl_folder) &&
         library.path.find("/compat/") == std::string::npos && !platform.cuda.devices.is_known();
}

// The results of cuInit in a process that did nothing else before (cuda.h, CUresult). 3 is no sign of fork()
// there.
struct InitClass {
  std::string_view result;
  Code code = Code::none;
};
constexpr InitClass init_classes[] = {{"2", Code::gpu_busy},
                                      {"3", Code::cuda_unknown_error},
                                      {"46", Code::gpu_busy},
                                      {"304", Code::cuda_unknown_error},
                                      {"802", Code::gpu_fabric_not_initialized},
                                      {"803", Code::driver_and_library_differ},
                                      {"804", Code::forward_compatibility_not_supported},
                                      {"805", Code::gpu_busy},
                                      {"806", Code::gpu_busy},
                                      {"807", Code::gpu_busy},
                                      {"808", Code::gpu_busy},
                                      {"809", Code::gpu_busy},
                                      {"999", Code::cuda_unknown_error}};

bool passes_by_itself(Code code) {
  return code == Code::gpu_fabric_not_initialized || code == Code::gpu_busy ||
         code == Code::driver_does_not_answer;
}

bool is_of_compat(const Platform& platform) {
  return platform.cuda.library.value().path.find("/compat/") != std::string::npos;
}

// No file shows the kernel's module, and cuInit finds no device or was not asked. On a Jetson no file would.
// Where files of the kernel are hidden, only cuInit counts, and a variable that hides the GPUs makes it fail,
// too.
bool has_no_module(const Platform& platform) {
  const Cuda& cuda = platform.cuda;
  const std::string& init = cuda.init.value();
  const bool finds_none = cuda.init.is_known() && (init == "100" || init == "999");
  const bool is_missing = platform.nvidia_module.is_known() ? finds_none || cuda.init.is_unknown()
                                                            : finds_none && !cuda.visible_devices.is_known();
  return platform.os.value() == "linux" && is_missing && cuda.driver.is_absent() &&
         cuda.hardware.is_known() && !cuda.hardware.value().starts_with("tegra") && !platform.wsl.is_known();
}

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of("/\\")); }

std::string library_name(const Platform& platform) {
  return platform.os.value() == "windows" ? "nvcuda.dll" : "libcuda.so.1";
}

void add_init(const Platform& platform, DriverLibrary state, Diagnosis& diagnosis) {
  const Fact<Installed>& library = platform.cuda.library;
  const std::string& path = library.value().path;
  if (state == DriverLibrary::refused) diagnosis.code = class_of_init(platform);
  if (state == DriverLibrary::no_module) diagnosis.code = Code::driver_module_not_loaded;
  diagnosis.with(Key::path, path, library.source());
  if (is_of_compat(platform)) diagnosis.with(Key::compat, folder_of(path), library.source());
  if (diagnosis.code == Code::cuda_unknown_error)
    diagnosis.with(Key::message, platform.cuda.devices.why(), "cuInit")
        .with(Key::init, platform.cuda.init.value());
  if (diagnosis.code != Code::driver_module_not_loaded || !platform.nvidia_module.is_known()) return;
  const KernelModule& module = platform.nvidia_module.value();
  const std::string& source = platform.nvidia_module.source();
  if (module.file.empty())
    diagnosis.with(Key::no_module_for, platform.kernel.value(), source);
  else
    diagnosis.with(Key::module, module.file, source);
  if (!module.gpu_is_of.empty()) diagnosis.with(Key::gpu_is_of, module.gpu_is_of, "/sys/bus/pci/devices");
  if (module.secure_boot) diagnosis.with(Key::secure_boot, "on", "/sys/firmware/efi/efivars");
}

}  // namespace

DriverLibrary driver_library_state(const Platform& platform) {
  const Cuda& cuda = platform.cuda;
  if (!cuda.library.is_known()) return DriverLibrary::not_found;
  if (has_note(cuda.library, stub_note)) return DriverLibrary::stub;
  if (has_note(cuda.library, empty_note)) return DriverLibrary::empty;
  if (has_note(cuda.library, not_searched_note)) {
    const std::string& version = cuda.library.value().version;
    const bool differs = !version.empty() && cuda.driver.is_known() && cuda.driver.value() != version;
    return differs ? DriverLibrary::other_version : DriverLibrary::not_searched;
  }
  if (hides_windows(platform)) return DriverLibrary::linux_in_wsl;
  if (has_no_module(platform)) return DriverLibrary::no_module;
  const Code code = class_of_init(platform);
  return code == Code::none || passes_by_itself(code) ? DriverLibrary::found : DriverLibrary::refused;
}

Code class_of_init(const Platform& platform) {
  const Cuda& cuda = platform.cuda;
  if (cuda.init.is_unknown() && cuda.init.why().starts_with(driver_is_silent))
    return Code::driver_does_not_answer;
  const auto row = std::ranges::find(init_classes, cuda.init.value(), &InitClass::result);
  if (!cuda.init.is_known() || row == std::end(init_classes)) return {};
  // A library that is newer than the module is taken for a forward-compatibility library, wherever it lies.
  const std::string& version = cuda.library.value().version;
  const bool differs = cuda.driver.is_known() && !version.empty() && version != cuda.driver.value();
  return row->code == Code::forward_compatibility_not_supported && differs && !is_of_compat(platform)
             ? Code::driver_and_library_differ
             : row->code;
}

bool hides_driver(DriverLibrary state) {
  return state != DriverLibrary::not_found && state != DriverLibrary::found;
}

Diagnosis why_no_driver(const Platform& platform) {
  const DriverLibrary state = driver_library_state(platform);
  const Fact<Installed>& library = platform.cuda.library;
  const std::string &path = library.value().path, folder = folder_of(path);
  Diagnosis diagnosis = diagnose(Code::driver_not_found);
  if (state == DriverLibrary::empty) {
    diagnosis.code = Code::driver_library_empty;
    diagnosis.with(Key::file, path, library.source());
  } else if (state == DriverLibrary::no_module || state == DriverLibrary::refused) {
    add_init(platform, state, diagnosis);
  } else if (hides_driver(state)) {
    diagnosis.code = state == DriverLibrary::stub           ? Code::driver_is_stub
                     : state == DriverLibrary::not_searched ? Code::driver_library_not_searched
                     : state == DriverLibrary::linux_in_wsl ? Code::linux_driver_in_wsl
                                                            : Code::driver_and_library_differ;
    diagnosis.with(Key::path, path, library.source()).with(Key::folder, folder, library.source());
  }
  diagnosis.with(Key::library, library_name(platform), "the CUDA runtime");
  if (library.is_known() && !library.value().version.empty())
    diagnosis.with(Key::library_version, library.value().version, library.source());
  if (state == DriverLibrary::not_searched) {
    const std::string* const variable = variable_of(platform, "LD_LIBRARY_PATH");
    diagnosis.with(Key::library_path,
                   folder + (variable != nullptr && !variable->empty() ? ":$LD_LIBRARY_PATH" : ""), "folder");
    // NixOS has no /etc/ld.so.conf, and the file of a sandbox cannot be written.
    const bool is_fixed = folder == "/run/opengl-driver/lib" || platform.container.value() == "flatpak" ||
                          platform.container.value() == "snap";
    if (!is_fixed) diagnosis.with(Key::ldconfig, folder, "folder");
  }
  add_driver_facts(platform, diagnosis);
  return diagnosis;
}

std::string obstacle_text(const Platform& platform) {
  const Installed& library = platform.cuda.library.value();
  switch (driver_library_state(platform)) {
    case DriverLibrary::not_found:
    case DriverLibrary::found:
      return {};
    case DriverLibrary::stub:
      return "only a stub: " + library.path;
    case DriverLibrary::empty:
      return library.path + " is " + std::string(empty_note);
    case DriverLibrary::not_searched:
      return library.path + ", where the loader does not look";
    case DriverLibrary::other_version:
      return library.path + " of version " + library.version + ", but the kernel's driver is " +
             platform.cuda.driver.value();
    case DriverLibrary::linux_in_wsl:
      return "a Linux driver inside WSL (" + library.path + ", version " + library.version +
             ") instead of the driver of Windows";
    case DriverLibrary::no_module:
      return library.path + ", but NVIDIA's module is not loaded into the kernel";
    case DriverLibrary::refused:
      return platform.cuda.devices.why();
  }
  return {};
}

void add_driver_facts(const Platform& platform, Diagnosis& diagnosis) {
  const Cuda& cuda = platform.cuda;
  const auto add = [&](Key key, const Fact<std::string>& fact) {
    if (fact.is_known() && diagnosis.value(key).empty()) diagnosis.with(key, fact.value(), fact.source());
  };
  const std::string& container = platform.container.value();
  const bool is_sandbox = container == "flatpak" || container == "snap";
  add(is_sandbox ? Key::sandbox : Key::container, platform.container);
  if (container == "kubernetes") add(Key::pod, platform.container);
  if (container == "lxc" || container == "systemd-nspawn") add(Key::own_libraries, platform.container);
  add(Key::wsl, platform.wsl);
  if (platform.os.value() == "windows") diagnosis.with(Key::windows, "yes", platform.os.source());
  add(cuda.hardware.value().starts_with("tegra") ? Key::jetson : Key::pci_device, cuda.hardware);
  if (cuda.hardware.is_absent()) diagnosis.with(Key::no_gpu, "none found", cuda.hardware.source());
  add(Key::driver, cuda.driver);
  if (container == "flatpak" && cuda.driver.is_known()) {
    std::string version = cuda.driver.value();
    std::replace(version.begin(), version.end(), '.', '-');
    diagnosis.with(Key::gl_extension, "org.freedesktop.Platform.GL.nvidia-" + version, cuda.driver.source());
  }
  // "void" and an empty value keep driver and GPUs out, "none" keeps the GPUs out (NVIDIA Container Toolkit,
  // "Environment Variables (OCI Spec)").
  if (const std::string* const wanted = variable_of(platform, "NVIDIA_VISIBLE_DEVICES");
      wanted != nullptr && platform.container.is_known() &&
      (wanted->empty() || *wanted == "void" || *wanted == "none"))
    diagnosis.with(Key::nvidia_visible_devices, wanted->empty() ? "\"\"" : *wanted, "NVIDIA_VISIBLE_DEVICES");
}

void add_device_facts(const Platform& platform, Diagnosis& diagnosis) {
  const Cuda& cuda = platform.cuda;
  const std::string& list = cuda.visible_devices.value();
  // Slurm gives this value to a job that did not ask for a GPU.
  const bool is_given_none = list.empty() || list == "NoDevFiles";
  if (is_given_none && platform.job.is_known())
    diagnosis.with(Key::job, platform.job.value(), platform.job.source());
  if (cuda.visible_devices.is_known() || cuda.init.value() != "100") return;
  if (platform.os.value() == "linux" && cuda.devices.is_absent() && cuda.driver.is_known() &&
      cuda.hardware.is_known())
    diagnosis.with(Key::unused_gpu, cuda.hardware.value(), cuda.hardware.source());
  for (const CudaDevice& device : cuda.devices.value())
    diagnosis.with(Key::hidden_gpu, device.name, cuda.devices.source());
}

const std::string* variable_of(const Platform& platform, std::string_view name) {
  const Variables& all = platform.loader_environment.value();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  return found != all.end() ? &found->second : nullptr;
}

}  // namespace enginehost::platform
