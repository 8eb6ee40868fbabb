// The PCI devices of this machine that are NVIDIA's and compute or draw, as Windows' plug and play lists
// them.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace enginehost::platform {

struct DisplayDevice {
  std::string id;              // "10de:2503"
  std::string driver_version;  // as the registry has it, "31.0.15.3623"; empty without NVIDIA's driver
};

// Only those that are present; also without a driver, when Windows knows no more of them than their class on
// the bus. Nothing when SetupAPI cannot be asked. Loads no driver's code. Any thread.
std::optional<std::vector<DisplayDevice>> nvidia_devices();

// NVIDIA's own number of "31.0.15.3623": the last five digits, "536.23". Empty when it is no such version.
// Pure.
std::string nvidia_version(const std::string& of_windows);

}  // namespace enginehost::platform
