// Facts about NVIDIA's hardware and driver that are read from files, without calling into the driver.
#pragma once
#include <optional>
#include <string>

#include "host/platform/library_search.hpp"
#include "host/platform/platform.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {

// "libcuda.so.1", on Windows "nvcuda.dll".
std::string driver_library_name();

// Returns the graphics and compute devices of vendor 10de on the PCI bus ("10de:2684", "10de:20b2 x 2"), or a
// Tegra chip with its release of Linux for Tegra ("tegra234, L4T 36.4.3"). Unknown in WSL, where GPUs do not
// appear on a bus. On Windows: the present devices as SetupAPI lists them, including those without a driver.
Fact<std::string> nvidia_hardware(const Root& root, const Fact<std::string>& wsl);

// Returns the version of the loaded kernel module. Unknown in WSL, where Windows has the driver. On Windows:
// the version of the driver that is registered for a present device.
Fact<std::string> kernel_driver(const Root& root, const Fact<std::string>& wsl);

// Returns libcuda.so.1 as the loader would find it, or WSL's copy outside the loader's folders. When absent,
// the source lists the folders searched and says whether device files hint at a driver.
Fact<Installed> driver_library(const Root& root, const LibrarySearch& libraries,
                               const Fact<std::string>& driver);

// The same for libnvidia-ml.so.1 (nvml.dll).
std::optional<std::string> find_nvml(const Root& root, const LibrarySearch& libraries);

}  // namespace enginehost::platform
