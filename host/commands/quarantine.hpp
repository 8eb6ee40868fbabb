// engine-cache quarantine: shows and changes which builds are not used on this machine.
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
