// Names and texts of errno values.
#pragma once
#include <string>

namespace enginehost {

// Returns "ENOENT", or the number as text if it has no name.
std::string error_name(int error_number);
// Returns "No such file or directory", in English whatever the locale.
std::string error_text(int error_number);

}  // namespace enginehost
