// System errors that may be over at the next try.
#pragma once
#include <string_view>

namespace enginehost {

// Returns whether a failed read may succeed the next time: no free descriptor, no memory, or a failing disk or server.
// A caller must not treat such a file as missing. Takes an errno, or its name (error_name()), which diagnoses hold
// ("errno").
bool is_transient(int error_number);
bool is_transient(std::string_view error_name);

}  // namespace enginehost
