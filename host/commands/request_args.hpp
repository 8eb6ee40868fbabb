// What a command line asks for, checked before anything is done: EH-P40 for what cannot be meant.
#pragma once
#include <string>

#include "base/result.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::commands {

Diagnosis wrong_usage(const std::string& program, const std::string& problem);

// As it was typed: ENGINE[@VERSION] (ENGINE>=VERSION as well), --flavor, --require, --device.
struct EngineConstraints {
  std::string engine, flavor, require, device;
  std::string require_flag = "--require";  // what `require` was given with
};

// The request it makes. EH-P40 for "@1", "ENGINE@" and a version that cannot be read, for two flavors that
// contradict each other, and for a text that is no list of devices. Without an engine only the rest is looked
// at.
Result<resolve::Request> request_of(const std::string& program, const EngineConstraints& constraint);

}  // namespace enginehost::commands
