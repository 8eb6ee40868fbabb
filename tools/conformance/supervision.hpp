// Runs the checks in a child process and watches it.
#pragma once
#include <functional>
#include <string>

#include "tools/conformance/report.hpp"

namespace engineplugin {

// Runs the checks; called in the child.
using Checks = std::function<void(SharedProgress& progress)>;

struct Supervised {
  std::string end;    // how the process ended, "" as it should
  std::string check;  // the last one begun
  int failures = 0;
  long stdout_bytes = 0;  // bytes that it wrote to standard output until its very end
};

// Runs the checks in a child, which ends as a program does, because exit handlers of the plugin are part of
// the checks. Each check has `seconds`. Prints the child's lines as they come; its standard output is a
// separate file. `arguments` are this program's. Where a process cannot be forked, the program is started
// again with them, and this function does not return there. `error` states why there is no child.
Supervised supervise(int count, char** arguments, const Checks& checks, int seconds, std::string& error);

// Ends this process at once, and counts it, if it is a copy that the plugin forked and that returned from its
// call. Such a copy would run every check again, and each call could double their number. Call after every
// call into the plugin.
void end_copy();

}  // namespace engineplugin
