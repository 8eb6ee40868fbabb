#include "host/settings/settings_key.hpp"

#include <string_view>
#include <utility>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/settings/declarations.hpp"
#include "host/settings/places.hpp"

namespace enginehost::settings {
namespace {

// Leaves out passwords, because the text is stored in the cache and passwords do not affect the result.
void add(std::string& text, std::string_view value) { text.append(without_passwords(value)).push_back('\0'); }

void add_variable(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).push_back('=');
  // libcurl also accepts "user:password@proxy:3128" as a proxy.
  const std::size_t user = value.rfind('@');
  if (user != std::string_view::npos && (name.ends_with("_proxy") || name.ends_with("_PROXY")) &&
      value.find("://") == std::string_view::npos)
    value.remove_prefix(user);
  add(text, value);
}

// Returns false for a relative folder, whose meaning depends on the current folder.
bool add_flags(std::string& text, const FlagValues& flags) {
  bool absolute = true;
  const auto add_all = [&](const Json& values, bool folders) {
    for (const Json& value : values.is_array() ? values.as_array() : Json::Array{values}) {
      add(text, value.is_string() ? value.as_string() : value.dump());
      absolute =
          absolute && (!folders || is_url(value.as_string()) || path_of(value.as_string()).is_absolute());
    }
    text.push_back('\n');
  };
  add_all(Json::strings(flags.repositories), true);
  add_all(Json::strings(flags.accept_licenses), false);
  add(text, flags.allow_unsigned ? "unsigned" : "");
  for (const Declaration& setting : declarations) {
    const Json value = setting.flag.given != nullptr ? setting.flag.given(flags) : Json();
    if (value.is_null()) continue;
    add(text, setting.key);
    add_all(value, setting.member.kind == Kind::path || setting.member.kind == Kind::paths);
  }
  return absolute;
}

// Adds the name, the folder that it leads to (a file may have names in several) and the file. While they are
// unchanged, the settings derived from the file's folder are too, and it is the same release.
bool add_file(std::string& text, const std::string& file) {
  calls::Status status{}, folder{};
  const std::size_t slash = file.find_last_of("/\\");
  if (slash == std::string::npos || calls::stat(file, &status) != 0 ||
      calls::stat(file.substr(0, slash + 1), &folder) != 0)
    return false;
  add(text, file);
  for (const std::int64_t number :
       {static_cast<std::int64_t>(folder.st_dev), static_cast<std::int64_t>(folder.st_ino),
        static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
        static_cast<std::int64_t>(status.st_size), calls::modified_ns(status), calls::changed_ns(status)})
    add(text, std::to_string(number));
  return true;
}

}  // namespace

std::optional<SettingsKey> settings_key(const FlagValues& flags) {
  std::string text;
  if (!add_flags(text, flags)) return std::nullopt;
  const Environment environment = Environment::of_this_process();
  if (environment.find(home_variable()) == nullptr || environment.home.empty() || environment.machine_failure)
    return std::nullopt;
  for (const auto& [name, value] : environment.variables)
    if (is_settings_variable(name)) add_variable(text, name, value);
  // On Windows some folders come from the system and are in no variable.
  const SettingsPlace cache = default_cache(environment);
  for (const std::filesystem::path& folder :
       {environment.home, cache.folder, state_folder(environment).folder, user_config_file(environment),
        environment.system_config, environment.system_layer, environment.library_folder})
    add(text, path_text(folder));
  add(text, effective_user());
  // Several machines may share a home folder.
  add(text, machine_name(environment));
  if (!add_file(text, executable_path())) return std::nullopt;
  if (const std::string library = library_name(); !library.empty() && !add_file(text, library))
    return std::nullopt;
  const std::string* const variable = environment.find("ENGINEHOST_CACHE");
  SettingsKey key{std::move(text),
                  flags.cache           ? *flags.cache
                  : variable != nullptr ? *variable
                                        : path_text(cache.folder),
                  flags.cache || variable != nullptr};
  if (!path_of(key.cache).is_absolute()) return std::nullopt;
  return key;
}

}  // namespace enginehost::settings
