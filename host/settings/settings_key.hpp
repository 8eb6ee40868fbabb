// The inputs of settings besides the files that they are read from, gathered in a few system calls.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_calls.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::settings {

struct SettingsKey {
  std::string text;   // flags, variables, program and library, the machine's name, the user
  std::string cache;  // the cache's place unless a configuration file sets another; absolute
};

// If this text and Settings::inputs are unchanged, load_settings() gives the same result. Returns nothing
// where more work is needed to decide that: a relative folder among the flags, no home folder, a removed
// library. Any thread, as long as no thread changes the environment.
std::optional<SettingsKey> settings_key(const FlagValues& flags);

namespace inside {

// Gathers the text.
class KeyBuilder {
 public:
  // Adds the value without passwords, because the text is stored in the cache and passwords do not affect the
  // result.
  void add(std::string_view value);
  void add_variable(std::string_view name, std::string_view value);
  // Returns false for a relative folder, whose meaning depends on the current folder.
  bool add_flags(const FlagValues& flags);
  // Adds the name, the folder that it leads to (a file may have names in several) and the file. While they
  // are unchanged, the settings derived from the file's folder are too, and it is the same release.
  bool add_file(const std::string& file);
  bool add_file(const std::string& file, const calls::Status& status);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace inside

}  // namespace enginehost::settings
