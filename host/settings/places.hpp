// Default places: cache, state, probe, default repository.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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

// The sources of a cache that is not in its usual place.
inline constexpr std::string_view not_the_usual_cache = "the usual cache cannot be written";
inline constexpr std::string_view not_anothers_cache = "the usual cache belongs to another user";

// Returns the default cache. If that is below the home and cannot be written or created, returns the folder
// "cache" in state_folder() if that can. The default cache is then still read, as a layer. If it belongs to
// another user, it is not read; the folder is empty if there is no other. `warnings` says so.
SettingsPlace usable_cache(const Environment& environment, std::vector<std::string>& warnings);

// Sets cache_problem and cache_owner for the chosen cache. `named`: a source named it.
void ask_about_cache(Settings& settings, bool named);

// Returns the first that can be written or created: <cache>/state/<machine>, else $XDG_STATE_HOME/enginehost,
// else empty.
SettingsPlace default_state(const std::filesystem::path& cache, const Environment& environment,
                            Inputs* inputs = nullptr);

// Returns <cache>/state/<machine> when `state` is another folder, because that one cannot be written but is
// still read. Otherwise empty.
std::filesystem::path read_only_state(const std::filesystem::path& cache, const SettingsPlace& state,
                                      const Environment& environment);

// Returns a name for this machine that does not reveal its id: the first 16 digits of a digest.
std::string machine_name(const Environment& environment);

// Returns where the SDK's own repository and the probe may be, the likeliest first:
// <prefix>/share/enginehost/repository and <prefix>/libexec/enginehost/enginehost-probe.
std::vector<std::filesystem::path> places_of_repository(const Environment& environment);
std::vector<std::filesystem::path> places_of_helper(const Environment& environment);

// Returns the SDK's own folder.
std::filesystem::path sdk_folder(const Environment& environment);

// Returns the probe beside the library or the executable; empty if there is none. The probe is run, so it and
// its folders must be as protected as the SDK; otherwise `warnings` says why it is not used. Fails where that
// cannot be examined now.
Result<SettingsPlace> default_helper(const Environment& environment, std::vector<std::string>& warnings,
                                     Inputs* inputs = nullptr);

// The SDK's own repository: in the build tree or in the installed prefix. It is trusted by its place. It must
// therefore belong to the owner of the SDK (or root), and nobody may write it who cannot write the SDK;
// otherwise `warnings` says why it is not used. Fails where it cannot be examined now, because it is then
// unknown whether one exists.
Result<std::optional<SettingsPlace>> default_repository(const Environment& environment,
                                                        std::vector<std::string>& warnings,
                                                        Inputs* inputs = nullptr);

// A folder where other programs may have installed an engine, and the reason to look there: "CONDA_PREFIX".
struct LikelyInstallation {
  std::filesystem::path folder;
  std::string source;
};

// Returns the existing ones of: the active conda environment, the active virtual environment, the user's and
// the system's Python packages, the system's libraries. Each once.
std::vector<LikelyInstallation> likely_installations(const Environment& environment);

// Returns true when files can be created in the folder, or in its nearest existing parent, and also when that
// cannot be determined now.
bool can_be_written(const std::filesystem::path& folder);

// Returns variables and folders of this process, without those that depend on the system.
Environment common_environment();

// The rest depends on the system, as default_cache() and user_config_file() do.

// Separates folders in a variable: ':' or ';'.
char folder_separator();

// The folder for state that programs may lose; empty without a home.
SettingsPlace state_folder(const Environment& environment);

const char* helper_name();

// Python packages of the user and of the system, libraries of the system, including folders that do not
// exist.
std::vector<LikelyInstallation> system_installations(const Environment& environment);

// Empty when all of these paths are as protected as the SDK itself. Fails where that cannot be determined now
// (base/system_errors.hpp).
Result<std::string> why_untrusted(const std::vector<std::filesystem::path>& paths,
                                  const std::filesystem::path& sdk_folder);

}  // namespace enginehost::settings
