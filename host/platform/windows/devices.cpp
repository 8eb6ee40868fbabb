#include "host/platform/windows/system.hpp"

#include <algorithm>
#include <map>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/binary/binary.hpp"
#include "host/platform/detect.hpp"
#include "host/platform/parts.hpp"
// Must follow <windows.h>.
#include <setupapi.h>

namespace enginehost::platform {
namespace {

constexpr const char* display_class = "{4d36e968-e325-11ce-bfc1-08002be10318}";
constexpr const char* class_keys = "SYSTEM\\CurrentControlSet\\Control\\Class\\";

// Returns a device property as one lower-case text, with the parts of a list joined by a space. Empty when
// the device has none.
std::string property_of(HDEVINFO devices, SP_DEVINFO_DATA& device, DWORD which) {
  std::wstring value(1024, L'\0');
  DWORD size = 0;
  if (::SetupDiGetDeviceRegistryPropertyW(
          devices, &device, which, nullptr, reinterpret_cast<BYTE*>(value.data()),
          static_cast<DWORD>((value.size() - 2) * sizeof(wchar_t)), &size) == 0)
    return {};
  for (std::size_t at = value.find(L'\0'); at + 1 < value.size() && value[at + 1] != 0;
       at = value.find(L'\0', at))
    value[at] = L' ';
  return to_lower(windows::utf8(value.c_str()));
}

// Returns "10de:2503" for "pci\ven_10de&dev_2503&subsys_…".
std::string id_of(const std::string& vendor, const std::string& hardware) {
  const std::size_t at = hardware.find("&dev_");
  return vendor + ":" + (at == std::string::npos ? "????" : hardware.substr(at + 5, 4));
}

}  // namespace

std::optional<std::vector<DisplayDevice>> display_devices(const std::string& vendor) {
  const HDEVINFO devices = ::SetupDiGetClassDevsW(nullptr, L"PCI", nullptr, DIGCF_PRESENT | DIGCF_ALLCLASSES);
  if (devices == INVALID_HANDLE_VALUE) return std::nullopt;
  std::vector<DisplayDevice> found;
  SP_DEVINFO_DATA device{};
  device.cbSize = sizeof device;
  for (DWORD i = 0; ::SetupDiEnumDeviceInfo(devices, i, &device) != 0; ++i) {
    const std::string hardware = property_of(devices, device, SPDRP_HARDWAREID);
    if (hardware.find("ven_" + vendor) == std::string::npos) continue;
    // A card's audio, USB and bridges are devices too. With a driver, the device's class identifies a GPU;
    // without one, the class on the bus: "cc_0300" display, "cc_0302" 3D, "cc_12" accelerator.
    const std::string bus = hardware + " " + property_of(devices, device, SPDRP_COMPATIBLEIDS);
    const bool display = property_of(devices, device, SPDRP_CLASSGUID) == display_class;
    if (!display && bus.find("cc_03") == std::string::npos && bus.find("cc_12") == std::string::npos)
      continue;
    DisplayDevice one{id_of(vendor, hardware), {}};
    if (const std::string key = property_of(devices, device, SPDRP_DRIVER); !key.empty()) {
      const std::string provider = registry::text(class_keys + key, "ProviderName").value_or("");
      if (to_lower(provider) == "nvidia")
        one.driver_version = registry::text(class_keys + key, "DriverVersion").value_or("");
    }
    found.push_back(std::move(one));
  }
  ::SetupDiDestroyDeviceInfoList(devices);
  return found;
}

std::vector<std::string> names_of(const std::vector<DisplayDevice>& devices) {
  std::map<std::string, int> found;
  for (const DisplayDevice& device : devices) ++found[device.id];
  std::vector<std::string> names;
  for (const auto& [name, count] : found)
    names.push_back(count > 1 ? name + " x " + std::to_string(count) : name);
  return names;
}

std::string nvidia_version(const std::string& of_windows) {
  const std::vector<std::string> parts = split(of_windows, '.');
  if (parts.size() != 4 || parts[2].empty() || parts[3].empty() || parts[3].size() > 4) return {};
  for (const std::string& part : parts)
    if (part.find_first_not_of("0123456789") != std::string::npos) return {};
  const std::string digits = parts[2].back() + std::string(4 - parts[3].size(), '0') + parts[3];
  return digits.substr(0, 3) + "." + digits.substr(3);
}

namespace {

using TextFact = Fact<std::string>;

// Devices are read from Windows itself, which knows no other root.
constexpr const char* another_root = "the devices of another root cannot be asked for";
constexpr const char* no_answer = "SetupAPI does not answer";

}  // namespace

std::string driver_library_name() { return "nvcuda.dll"; }

TextFact nvidia_hardware(const Root& root, const TextFact&) {
  if (!root.is_this_machine()) return TextFact::unknown(another_root);
  const auto devices = display_devices("10de");
  if (!devices) return TextFact::unknown(no_answer);
  const std::vector<std::string> names = names_of(*devices);
  return names.empty() ? TextFact::absent("SetupAPI") : TextFact::known(join(names, ", "), "SetupAPI");
}

TextFact kernel_driver(const Root& root, const TextFact&) {
  if (!root.is_this_machine()) return TextFact::unknown(another_root);
  const auto devices = display_devices("10de");
  if (!devices) return TextFact::unknown(no_answer);
  for (const DisplayDevice& device : *devices)
    if (std::string version = nvidia_version(device.driver_version); !version.empty())
      return TextFact::known(std::move(version), "registry: DriverVersion " + device.driver_version);
  return TextFact::absent("registry: DriverVersion of the devices that SetupAPI lists");
}

Fact<Installed> driver_library(const Root& root, const LibrarySearch& libraries, const TextFact& driver) {
  std::vector<SkippedFile> skipped;
  const auto library = libraries.find(driver_library_name(), &skipped);
  if (!library) {
    std::string looked;
    for (const SkippedFile& file : skipped) looked += file.path + " " + file.why + "; ";
    looked += "not in " + libraries.places();
    if (driver.is_known() && skipped.empty()) looked += "; a driver is registered, its library is missing";
    return Fact<Installed>::absent(std::move(looked));
  }
  Installed found{{}, library->path, {}};
  if (const auto resources = binary::pe_resources(root.on_disk(library->path)))
    found.version = nvidia_version(resources->file_version);
  if (!found.version.empty() && driver.is_known() && driver.value() != found.version)
    found.note = "the registered driver is " + driver.value();
  return Fact<Installed>::known(std::move(found), library->source);
}

std::optional<std::string> find_nvml(const Root& root, const LibrarySearch& libraries) {
  if (const auto library = libraries.find("nvml.dll")) return library->path;
  // The place that drivers before 2019 used, which no loader searches.
  const std::string programs = environment_variable("ProgramW6432").value_or("C:\\Program Files");
  const std::string outside = programs + "\\NVIDIA Corporation\\NVSMI\\nvml.dll";
  if (root.exists(outside)) return outside;
  return std::nullopt;
}

// Windows lists a driver's devices, by number, in the driver's "Enum" key, and the driver version of each
// display device in the key of its class. Both follow plugging and updates. No driver is loaded.
DeviceSigns device_signs(const Root& root) {
  DeviceSigns signs;
  if (!root.is_this_machine()) return signs;
  const std::string system = "SYSTEM\\CurrentControlSet\\";
  for (const char* driver : {"nvlddmkm", "amdkmdag", "amdwddmg"})  // NVIDIA's, AMD's before and since 2021
    for (const auto& [number, device] : registry::texts_of(system + "Services\\" + driver + "\\Enum"))
      signs.emplace_back(driver + (": " + device), "");
  const std::string displays = system + "Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}";
  for (const std::string& key : registry::keys_below(displays))
    if (auto version = registry::text(displays + "\\" + key, "DriverVersion"))
      signs.emplace_back("driver of display device " + key, std::move(*version));
  std::sort(signs.begin(), signs.end());
  return signs;
}

namespace {

constexpr const char* installers_key = "SOFTWARE\\NVIDIA Corporation\\GPU Computing Toolkit\\CUDA";

// Each version's installer writes a key "v12.4" with its folder.
void add_installed(const Root& root, std::vector<ToolkitPlace>& places) {
  if (!root.is_this_machine()) return;
  for (const std::string& version : registry::keys_below(installers_key)) {
    const std::string key = installers_key + ("\\" + version);
    if (auto folder = registry::text(key, "InstallDir"); folder && !folder->empty())
      places.push_back({std::move(*folder), "registry: " + key, true});
  }
}

// The toolkit of the nvcc in PATH.
void add_compiler(const Root& root, std::vector<ToolkitPlace>& places) {
  for (const std::string& folder : split(environment_variable("PATH").value_or(""), ';')) {
    const std::size_t end = folder.find_last_not_of("\\/") + 1;
    const std::string bin = folder.substr(0, end);
    if (!to_lower(bin).ends_with("\\bin") || !root.exists(bin + "\\nvcc.exe")) continue;
    places.push_back({bin.substr(0, bin.size() - 4), "nvcc in PATH", true});
    return;
  }
}

}  // namespace

std::vector<ToolkitPlace> toolkit_places(const Root& root) {
  std::vector<ToolkitPlace> places = toolkits_of_variables(process_variables());
  add_compiler(root, places);
  add_installed(root, places);
  const std::string usual = environment_variable("ProgramW6432").value_or("C:\\Program Files") +
                            "\\NVIDIA GPU Computing Toolkit\\CUDA";
  for (const std::string& name : root.list(usual))
    if (name.starts_with('v')) places.push_back({usual + "\\" + name, usual, false});
  return places;
}

const CudaNames cuda_names = {.toolkit_places =
                                  "CUDA_HOME, CUDA_PATH, nvcc in PATH, registry: SOFTWARE\\NVIDIA "
                                  "Corporation\\GPU Computing Toolkit\\CUDA, "
                                  "NVIDIA GPU Computing Toolkit",
                              .toolkit_libraries = "/bin",
                              .runtimes = "cudart64_*.dll in PATH",
                              .cudnn_folders = {"/bin/x64", "/bin"}};  // CUDA 13 introduced the first

// CUDA 11's runtime kept one name from 11.0 to 11.8, cudart64_110.dll.
std::string runtime_file(std::string version) {
  std::erase(version, '.');
  return "cudart64_" + version + ".dll";
}

std::string cudnn_file(const std::string& major) { return "cudnn64_" + major + ".dll"; }

// The file's resources hold a number of the branch instead of the release; the name holds the major version.
std::string version_in_cudnn_name(const std::string& path) {
  const std::size_t at = path.rfind('_');
  const std::string rest = at == std::string::npos ? "" : path.substr(at + 1);
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

// "…\bin\cudnn64_9.dll", with cuDNN's own installer "…\bin\12.9\cudnn64_9.dll": the header lies beside "bin".
std::string cudnn_header_folder(const std::string& library) {
  const std::size_t at = to_lower(library).rfind("\\bin\\");
  return at == std::string::npos ? "" : library.substr(0, at) + "\\include";
}

}  // namespace enginehost::platform
