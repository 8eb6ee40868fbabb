// What settings follow from beside the files that they are read from, gathered in a few system calls.
#pragma once
#include <optional>
#include <string>

#include "host/settings/settings.hpp"

namespace enginehost::settings {

struct SettingsKey {
  std::string text;   // flags, variables, program and library, the machine's name, the user
  std::string cache;  // where the cache lies unless a configuration file says something else; absolute
};

// The same text, and Settings::looks unchanged: load_settings() would give the same. Nothing where that takes
// more to tell: a relative folder among the flags, no home folder, a library that is gone; on Windows.
// Any thread, as long as nobody changes the environment.
std::optional<SettingsKey> settings_key(const FlagValues& flags);

}  // namespace enginehost::settings
