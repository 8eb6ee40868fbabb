#include "host/settings/settings_key.hpp"

#include "base/paths.hpp"
#include "base/process.hpp"
#include "host/settings/system_places.hpp"

namespace enginehost::settings {

std::optional<SettingsKey> settings_key(const FlagValues& flags) {
  inside::KeyBuilder text;
  if (!text.add_flags(flags)) return std::nullopt;
  const Environment environment = Environment::of_this_process();
  if (environment.home.empty()) return std::nullopt;
  for (const auto& [name, value] : environment.variables)
    if (is_settings_variable(name)) text.add_variable(name, value);
  // The known folders come from the system and are in no variable.
  const SettingsPlace cache = default_cache(environment);
  for (const std::filesystem::path& folder :
       {environment.home, cache.folder, state_folder(environment).folder, user_config_file(environment),
        environment.system_config, environment.system_layer, environment.library_folder})
    text.add(path_text(folder));
  text.add(effective_user());
  text.add(environment.machine);
  if (!text.add_file(executable_path())) return std::nullopt;
  const std::string* const variable = environment.find("ENGINEHOST_CACHE");
  SettingsKey key{text.take(), flags.cache           ? *flags.cache
                               : variable != nullptr ? *variable
                                                     : path_text(cache.folder)};
  if (!path_of(key.cache).is_absolute()) return std::nullopt;
  return key;
}

}  // namespace enginehost::settings
