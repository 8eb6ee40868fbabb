// The parts of places.hpp that depend on the system.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/settings/places.hpp"

namespace enginehost::settings {

// Separates folders in a variable: ':' or ';'.
char folder_separator();

// The folder for state that programs may lose; empty without a home. default_cache() and user_config_file()
// depend on the system, too.
SettingsPlace state_folder(const Environment& environment);

const char* helper_name();

// Python packages of the user and of the system, libraries of the system, including folders that do not
// exist.
std::vector<LikelyInstallation> system_installations(const Environment& environment);

// Empty when only the administrator can change the system's configuration file, or when there is none. The
// permissions of its folder are not checked, because on POSIX only root can write there.
std::string why_anybody_may_change(const std::filesystem::path& system_config);

// Empty when all of these paths are as protected as the SDK itself. Fails where that cannot be determined now
// (base/system_errors.hpp).
Result<std::string> why_untrusted(const std::vector<std::filesystem::path>& paths,
                                  const std::filesystem::path& sdk_folder);

}  // namespace enginehost::settings
