#include "host/settings/settings_key.hpp"

namespace enginehost::settings {

// The known folders are asked of the system: no text tells them.
std::optional<SettingsKey> settings_key(const FlagValues&) { return std::nullopt; }

}  // namespace enginehost::settings
