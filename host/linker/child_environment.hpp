// What a child is told of libraries that is to find the same ones as this process.
#pragma once
#include <string>
#include <vector>

namespace enginehost::linker {

// ChildRequest::environment: the variables of the loader as this process was started with them, where the
// program has changed them since. The loader of this process goes by the old ones, a child's would go by the
// new ones. With raised rights, where the loader heeds none, a child gets none. Empty on Windows and macOS.
// Any thread, as long as nobody changes the environment.
std::vector<std::string> loader_variables_for_child();

}  // namespace enginehost::linker
