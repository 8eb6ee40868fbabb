#include "host/settings/deciding.hpp"

namespace enginehost::settings {

// The known folders are asked of the system: no text tells them.
std::optional<Deciding> deciding(const FlagValues&) { return std::nullopt; }

}  // namespace enginehost::settings
