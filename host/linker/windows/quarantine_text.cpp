#include "host/linker/quarantine.hpp"

namespace enginehost::linker {

// No file system of Windows keeps what macOS marks.
std::optional<std::string> quarantine_text(const std::filesystem::path&) { return std::nullopt; }

}  // namespace enginehost::linker
