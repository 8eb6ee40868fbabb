// engine-info --installations: what others installed on this machine, and which of it could be opened in
// place.
#pragma once
#include <string>
#include <vector>

#include "host/installations/installation.hpp"
#include "host/open/open_context.hpp"

namespace enginehost::commands {

// One place that was asked for, or that came to mind.
struct SeenInstallation {
  std::filesystem::path path;
  std::string source;  // "--installation", "CONDA_PREFIX", "the system's libraries"
  bool asked_for = false;
  Result<installations::Installation> content;
  std::vector<std::shared_ptr<const manifest::Manifest>> builds;  // one for each of the content's runtimes
};

// All that were asked for, and of the likely places those where something is. Reads files, runs nothing.
std::vector<SeenInstallation> look_for_installations(open::OpenContext& context);

Json to_json(const std::vector<SeenInstallation>& seen);
std::string describe(const std::vector<SeenInstallation>& seen);

}  // namespace enginehost::commands
