// The inputs of settings besides the files that they are read from.
#pragma once
#include <optional>
#include <string>

#include "host/settings/settings.hpp"

namespace enginehost::settings {

struct SettingsKey {
  std::string text;   // flags, variables, folders, program and library, machine and user; no passwords
  std::string cache;  // the cache's place unless a configuration file sets another; absolute
  bool cache_is_named = false;  // by a flag, the API or a variable
};

// If this text and Settings::inputs are unchanged, load_settings() gives the same result. Returns nothing
// where more work is needed to decide that: a relative folder among the flags, no home folder, a removed
// library. Any thread, as long as no thread changes the environment.
std::optional<SettingsKey> settings_key(const FlagValues& flags);

}  // namespace enginehost::settings
