// Where things are when nobody said so: cache, state, helper, default repository.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/settings/settings.hpp"

namespace enginehost::settings {

struct SettingsPlace {
  std::filesystem::path folder;
  std::string source;
};

// $XDG_CACHE_HOME/enginehost, else ~/.cache/enginehost (Library/Caches on macOS); empty without a home.
SettingsPlace default_cache(const Environment& environment);
std::filesystem::path user_config_file(const Environment& environment);

// <cache>/state/<machine>, else $XDG_STATE_HOME/enginehost, else empty: the first that can be written or
// created.
SettingsPlace default_state(const std::filesystem::path& cache, const Environment& environment,
                            Inputs* inputs = nullptr);

// <cache>/state/<machine> when `state` is not that: it cannot be written, and is still read. Else empty.
std::filesystem::path read_only_state(const std::filesystem::path& cache, const SettingsPlace& state,
                                      const Environment& environment);

// A name for this machine that does not give away its id: the first 16 digits of a digest.
std::string machine_name(const Environment& environment);

// The helper beside the library or the executable: <prefix>/libexec/enginehost/enginehost-probe.
SettingsPlace default_helper(const Environment& environment, Inputs* inputs = nullptr);

// The repository that belongs to this SDK: in the build tree or <prefix>/share/enginehost/repository. It is
// trusted by its place, so it must have the owner of the SDK (or root) and must not be writable by anyone who
// may not write the SDK as well; otherwise `warnings` says why it is not used. Fails where it cannot be
// looked at now: then it is not known that there is none.
Result<std::optional<SettingsPlace>> default_repository(const Environment& environment,
                                                        std::vector<std::string>& warnings,
                                                        Inputs* inputs = nullptr);

// A place where an engine may have been installed by others, and how it came to mind: "CONDA_PREFIX".
struct LikelyInstallation {
  std::filesystem::path folder;
  std::string source;
};

// The active conda environment, the active virtual environment, the user's and the system's Python packages,
// the system's libraries: as far as they exist, each once.
std::vector<LikelyInstallation> likely_installations(const Environment& environment);

// True when files can be created in the folder, or in the nearest existing folder above it; and where that
// cannot be told now.
bool can_be_written(const std::filesystem::path& folder);

}  // namespace enginehost::settings
