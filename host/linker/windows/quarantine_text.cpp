#include "host/linker/quarantine.hpp"

namespace enginehost::linker {

// File systems of Windows have no such attribute.
std::optional<std::string> quarantine_text(const std::filesystem::path&) { return std::nullopt; }

}  // namespace enginehost::linker
