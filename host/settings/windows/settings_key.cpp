#include "host/settings/settings_key.hpp"

namespace enginehost::settings {

// The known folders come from the system and are in no variable.
std::optional<SettingsKey> settings_key(const FlagValues&) { return std::nullopt; }

}  // namespace enginehost::settings
