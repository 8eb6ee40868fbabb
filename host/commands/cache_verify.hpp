// engine-cache verify: finds problems of the cache and repairs them.
#pragma once
#include <string>

#include "base/cancel.hpp"
#include "host/commands/cli.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

struct VerifyFlags {
  std::string build;
  bool deep = false, repair = false;
};

CLI::App* add_verify(CLI::App& app, VerifyFlags& flags);
// Returns the exit status: that of the first problem that was not repaired.
int run_verify(const settings::Settings& settings, const VerifyFlags& flags, bool json, bool quiet,
               const CancelToken& cancel);

}  // namespace enginehost::commands
