#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// No Windows volume forbids execution. Refusals by a policy (EH-W10) are visible only through the loader.
Result<void> check_executable_mapping(const std::filesystem::path&) { return {}; }

}  // namespace enginehost::preflight
