// What engine-info is asked.
#pragma once
#include <string>
#include <vector>

#include "host/commands/common.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::commands {

struct InfoFlags {
  CommonFlags common;
  std::string engine, flavor, device, require, platform_file, plugin, inspect, plot;
  std::vector<std::string> codes;
  bool plan = false, explain = false, self_test = false, bench = false, no_probe = false,
       platform_json = false, symbols = false, installations = false;
};

void add_flags(CLI::App& app, InfoFlags& flags);

// What ENGINE and the flags beside it ask for. EH-P40 for flags that do not go together: one that would be
// ignored was meant otherwise.
Result<resolve::Request> checked(const InfoFlags& flags);

}  // namespace enginehost::commands
