#include "host/platform/nvidia_files.hpp"

namespace enginehost::platform {
namespace {

constexpr const char* never = "not on macOS: NVIDIA's last driver was for 10.13";

}  // namespace

std::string driver_library_name() { return "libcuda.dylib"; }

Fact<std::string> nvidia_hardware(const Root&, const Fact<std::string>&) {
  return Fact<std::string>::absent(never);
}

Fact<std::string> kernel_driver(const Root&, const Fact<std::string>&) {
  return Fact<std::string>::absent(never);
}

Fact<Installed> driver_library(const Root&, const LibrarySearch&, const Fact<std::string>&) {
  return Fact<Installed>::absent(never);
}

std::optional<std::string> find_nvml(const Root&, const LibrarySearch&) { return std::nullopt; }

}  // namespace enginehost::platform
