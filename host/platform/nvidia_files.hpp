// What files tell of NVIDIA's hardware and driver, without calling into it.
#pragma once
#include <optional>
#include <string>

#include "host/platform/library_search.hpp"
#include "host/platform/platform.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {

// "libcuda.so.1", on Windows "nvcuda.dll".
std::string driver_library_name();

// Graphics and compute devices of vendor 10de on the PCI bus ("10de:2684", "10de:20b2 x 2"), or a Tegra chip
// with its release of Linux for Tegra ("tegra234, L4T 36.4.3"). Unknown where GPUs do not show on a bus
// (WSL). On Windows the devices that are present, those without a driver too, as SetupAPI lists them.
Fact<std::string> nvidia_hardware(const Root& root, const Fact<std::string>& wsl);

// The version of the loaded kernel module. Unknown in WSL, where Windows has it. On Windows that of the
// driver that is registered for a device which is present.
Fact<std::string> kernel_driver(const Root& root, const Fact<std::string>& wsl);

// libcuda.so.1 as the loader would find it, or WSL's own outside its reach; the source of an absent one says
// where was looked, and whether device files hint at a driver all the same.
Fact<Installed> driver_library(const Root& root, const LibrarySearch& libraries,
                               const Fact<std::string>& driver);

// libnvidia-ml.so.1 (nvml.dll) likewise.
std::optional<std::string> find_nvml(const Root& root, const LibrarySearch& libraries);

}  // namespace enginehost::platform
