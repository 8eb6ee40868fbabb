// The request of a command line, checked before anything is done.
#pragma once
#include <string>

#include "base/result.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::commands {

// Returns EH-P40 with the program and the problem.
Diagnosis wrong_usage(const std::string& program, const std::string& problem);

// The arguments as they were typed: ENGINE[@VERSION] or ENGINE>=VERSION, --flavor, --require, --device,
// --force.
struct EngineConstraints {
  std::string engine, flavor, require, device;
  std::string require_flag = "--require";  // the flag that set `require`
  std::string force = {};
};

// Returns the request. Errors: EH-P40 for "@1", for "ENGINE@", for a version that cannot be read, for two
// flavors that contradict each other, and for a device list that cannot be read. Without an engine only the
// other arguments are checked.
Result<resolve::Request> request_of(const std::string& program, const EngineConstraints& constraint);

}  // namespace enginehost::commands
