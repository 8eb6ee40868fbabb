#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

// The installer of AMD's HIP SDK sets HIP_PATH to "C:\Program Files\AMD\ROCm\6.2\". Only its libraries know
// which GPUs exist.
Fact<Rocm> detect_rocm(const Root& root) {
  const std::string folder = environment_variable("HIP_PATH").value_or("");
  if (folder.empty() || !root.is_folder(folder)) return Fact<Rocm>::absent("HIP_PATH");
  Rocm found;
  for (std::string& name : split(folder, '\\'))
    if (!name.empty() && name.find_first_not_of("0123456789.") == std::string::npos)
      found.version = std::move(name);
  return Fact<Rocm>::known(std::move(found), "HIP_PATH");
}

}  // namespace enginehost::platform
