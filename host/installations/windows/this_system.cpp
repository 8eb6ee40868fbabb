#include "host/installations/this_system.hpp"

#include "base/paths.hpp"
#include "base/process.hpp"

namespace enginehost::installations {

std::string_view why_none_is_recognized() { return "only installations on Linux are recognized"; }

std::filesystem::path own_program() { return path_of(executable_path()); }

}  // namespace enginehost::installations
