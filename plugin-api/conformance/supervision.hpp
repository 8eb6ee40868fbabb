// The checks in a process of their own, watched from this one.
#pragma once
#include <functional>
#include <string>

#include "report.hpp"

namespace engineplugin {

// Makes the checks, in the process that is for them.
using Checks = std::function<void(SharedProgress& progress)>;

struct Supervised {
  std::string end;    // how the process ended, "" as it should
  std::string check;  // the last one begun
  int failures = 0;
  long stdout_bytes = 0;  // that it wrote to standard output until its very end
};

// Runs the checks in a child, which ends as a program does (what a plugin left for that is part of the
// checks); each check has `seconds`. Prints its lines as they come; its standard output is a file aside.
// `arguments` are this program's: where a process cannot be doubled it is started again with them, and this
// function does not return there. `error` says why there is no child.
Supervised supervise(int count, char** arguments, const Checks& checks, int seconds, std::string& error);

// Ends this process at once, and counts it, if it is a copy of the checking one that the plugin made and that
// came back from its call: it would make every check once more, and with each call there would be twice as
// many. To be called after every call into the plugin.
void end_copy();

}  // namespace engineplugin
