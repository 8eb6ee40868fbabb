#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// No volume of Windows forbids execution. What a policy refuses (EH-W10) it tells the loader only.
Result<void> check_executable_mapping(const std::filesystem::path&) { return {}; }

}  // namespace enginehost::preflight
