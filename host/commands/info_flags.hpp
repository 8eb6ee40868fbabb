// The flags of engine-info.
#pragma once
#include <string>
#include <vector>

#include "host/commands/common.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::commands {

struct InfoFlags {
  CommonFlags common;
  std::string engine, flavor, device, require, force, platform_file, plugin, inspect, plot;
  std::vector<std::string> codes;
  bool plan = false, explain = false, self_test = false, bench = false, no_probe = false,
       platform_json = false, symbols = false, installations = false;
};

void add_flags(CLI::App& app, InfoFlags& flags);

// Returns the request that ENGINE and the flags make. Errors: EH-P40 for flags that do not go together,
// because one of them would be ignored.
Result<resolve::Request> checked(const InfoFlags& flags);

}  // namespace enginehost::commands
