// Errors of the system that tell of the moment, not of the file.
#pragma once
#include <string_view>

namespace enginehost {

// Whether what kept a file from being read may be over the next time: no descriptor is free, no memory, a disk or a server
// failed. Who goes on as if the file were not there then forgets what it says. Of errno, or of its name (error_name()), as
// diagnoses hold it ("errno").
bool is_transient(int error_number);
bool is_transient(std::string_view error_name);

}  // namespace enginehost
