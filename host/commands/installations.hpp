// engine-info --installations: engines that other package managers installed here, and which of them can be
// opened in place.
#pragma once
#include <string>
#include <vector>

#include "host/context/open_context.hpp"
#include "host/installations/in_place.hpp"

namespace enginehost::commands {

// A requested place, or a usual one.
struct SeenInstallation {
  std::filesystem::path path;
  std::string source;  // "--installation", "CONDA_PREFIX", "the system's libraries"
  bool asked_for = false;
  Result<installations::Installation> content;
  std::vector<std::shared_ptr<const manifest::Manifest>> builds;  // one per runtime of the content
};

// Returns every requested place, and the usual places that contain something. Reads files; runs nothing.
std::vector<SeenInstallation> look_for_installations(open::OpenContext& context);

Json to_json(const std::vector<SeenInstallation>& seen);
std::string describe(const std::vector<SeenInstallation>& seen);

}  // namespace enginehost::commands
