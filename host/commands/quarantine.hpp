// `engine-cache quarantine`: what is quarantined on this machine, why, and how to take it back.
#pragma once
#include <string>

#include "host/commands/cli.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

struct QuarantineFlags {
  std::string action, build;
  bool all = false;
};

CLI::App* add_quarantine(CLI::App& app, QuarantineFlags& flags);
int run_quarantine(const settings::Settings& settings, const QuarantineFlags& flags, bool json);

}  // namespace enginehost::commands
