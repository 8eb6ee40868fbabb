#include "host/platform/windows/display_devices.hpp"

#include <map>

#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/platform/windows/registry.hpp"
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

}  // namespace enginehost::platform
