#include "host/platform/nvidia_files.hpp"

#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "host/platform/windows/display_devices.hpp"

namespace enginehost::platform {
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
  const auto library = libraries.find(driver_library_name());
  if (!library) {
    std::string looked = "not in " + libraries.places();
    if (driver.is_known()) looked += "; a driver is registered, its library is missing";
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

}  // namespace enginehost::platform
