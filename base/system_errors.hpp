// Names and texts of errno values, and which of them may be over at the next try.
#pragma once
#include <string>
#include <string_view>

namespace enginehost {

// Names and texts of errno values.

// Returns "ENOENT", or the number as text if it has no name.
std::string error_name(int error_number);
// Returns "No such file or directory", in English whatever the locale.
std::string error_text(int error_number);

// System errors that may be over at the next try.

// Returns whether a failed read may succeed the next time: no free descriptor, no memory, or a failing disk
// or server. A caller must not treat such a file as missing. Takes an errno, or its name (error_name()),
// which diagnoses hold
// ("errno").
bool is_transient(int error_number);
bool is_transient(std::string_view error_name);

}  // namespace enginehost
