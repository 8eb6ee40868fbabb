// NVIDIA's drivers and devices. check_cuda.cpp has the driver rule; cuda_devices.cpp has the two kinds of
// arm64 machines and CUDA_VISIBLE_DEVICES.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/platform/platform.hpp"

namespace enginehost::resolve {

// NVIDIA's tables about drivers and toolkits (host/vendor_facts), as functions.

// Returns the newest CUDA version that a driver supports: "12.2" for 535.104.05. Empty: older than CUDA
// 10.0's driver.
std::string cuda_of_driver(std::string_view driver, bool windows);

// Returns the oldest driver that runs builds of that toolkit natively; empty if the table lacks the toolkit.
std::string native_driver(std::string_view toolkit, bool windows);

// Returns the oldest driver that runs every minor version of that CUDA major ("minor version compatibility").
// Empty: NVIDIA gives no such guarantee, as for CUDA 10 and before.
std::string minor_version_driver(int toolkit_major, bool windows);

// WSL has the Windows driver, whose version numbers differ from those of Linux.
bool has_windows_driver(const platform::Platform& machine);

// The two kinds of arm64 machines with NVIDIA GPUs: servers (SBSA), with the driver and toolkit that x86 has,
// and Jetson modules, with those of Linux for Tegra (L4T).
// Sources: CUDA installation guide, "cross-compilation" (targets aarch64-linux and sbsa-linux); NVIDIA's
// notes on CUDA 13.0 for Jetson (one toolkit for both from L4T 38 on).

struct Jetson {
  std::string l4t;  // "36.4.3"; "" = not reported, as in a container
};
// Returns nothing for a machine that is no Jetson, and if the hardware is unknown.
std::optional<Jetson> jetson_of(const platform::Platform& machine);

// The NVIDIA devices that a process may use, by the rules of CUDA_VISIBLE_DEVICES (CUDA programming guide,
// "CUDA environment variables").

struct VisibleDevices {
  std::vector<const platform::CudaDevice*> devices;  // in CUDA's numbering
  bool certain =
      true;  // false: `why` says what could not be judged; `devices` are then those that may be visible
  std::string why;
};

// Uses the driver's own list if the driver was asked, else applies the variable. Not set: all devices. Empty:
// none. A list ends at its first invalid entry ("0,2,-1,1" is 0 and 2). "GPU-" entries may be unique
// prefixes. An entry that occurs twice makes the whole list invalid. The result points into `cuda.devices`.
VisibleDevices visible_devices(const platform::Cuda& cuda);

}  // namespace enginehost::resolve
