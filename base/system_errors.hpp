// Names and texts of errno values.
#pragma once
#include <string>

namespace enginehost {

// "ENOENT"; the number as text where it has no name.
std::string error_name(int error_number);
// "No such file or directory", in English whatever the locale.
std::string error_text(int error_number);

}  // namespace enginehost
