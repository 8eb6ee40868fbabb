#include "host/oci/platform_names.hpp"

namespace enginehost::oci {

PlatformName platform_name(std::string_view os, std::string_view arch) {
  PlatformName name{std::string(os), std::string(arch), {}};
  if (os == "macos") name.os = "darwin";
  if (arch == "x86_64") name.architecture = "amd64";
  if (arch == "x86" || arch == "i686") name.architecture = "386";
  if (arch == "aarch64") name.architecture = "arm64";
  if (arch == "armv7" || arch == "armv7l") name = {name.os, "arm", "v7"};
  return name;
}

}  // namespace enginehost::oci
