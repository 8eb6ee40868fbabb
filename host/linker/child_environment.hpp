// The loader variables for a child that must find the same libraries as this process.
#pragma once
#include <string>
#include <vector>

namespace enginehost::linker {

// Returns entries for ChildRequest::environment: the loader's variables as this process was started with
// them, where the program has changed them since. The loader of this process uses the original values; a
// child's would use the new ones. With raised rights, where the loader ignores them, a child gets none. Empty
// on Windows and macOS. Thread safety: any thread, while nobody changes the environment.
std::vector<std::string> loader_variables_for_child();

}  // namespace enginehost::linker
