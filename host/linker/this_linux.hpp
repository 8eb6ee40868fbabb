// What this process was told of its libraries when it began, as Linux' loaders take it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::linker {

// A variable as it was then: what setenv() did since is not seen by the loader. Absent = not set. Reads
// /proc/self/environ each time. Any thread.
std::optional<std::string> variable_at_start(std::string_view name);

// library_path_folders() of this process, without all else that describe_this_machine() looks at. Any thread.
std::vector<std::string> library_path_folders_at_start();

}  // namespace enginehost::linker
