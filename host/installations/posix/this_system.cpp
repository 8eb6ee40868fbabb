#include "host/installations/this_system.hpp"

namespace enginehost::installations {

std::string_view why_none_is_recognized() { return {}; }

std::filesystem::path own_program() { return "/proc/self/exe"; }

}  // namespace enginehost::installations
