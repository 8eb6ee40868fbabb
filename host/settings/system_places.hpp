// Where a system keeps such things by its own habits; behind places.hpp.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/settings/places.hpp"

namespace enginehost::settings {

// Between folders in a variable: ':' or ';'.
char folder_separator();

// For what programs remember and may lose; empty without a home. default_cache and user_config_file are the
// system's, too.
SettingsPlace state_folder(const Environment& environment);

const char* helper_name();

// Python packages of the user and of the system, libraries of the system; those that are not there, too.
std::vector<LikelyInstallation> system_installations(const Environment& environment);

// Empty when only the system's administrator may change the system's configuration file, or when there is
// none. What its folder lets others do is not asked: POSIX keeps it where only root writes.
std::string why_anybody_may_change(const std::filesystem::path& system_config);

// Empty when everything that decides what the repository offers is as safe as the SDK itself. Fails where
// that cannot be told now (base/transient_errors.hpp).
Result<std::string> why_untrusted(const std::filesystem::path& repository,
                                  const std::filesystem::path& sdk_folder);

}  // namespace enginehost::settings
