// `engine-cache push`: sends installed builds to an OCI registry.
#pragma once
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "host/commands/cli.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

struct PushFlags {
  std::vector<std::string> what;  // builds as in build_names.hpp, and the registry last
  std::vector<std::string> redistribute;
  std::string manifest;
};

CLI::App* add_push(CLI::App& app, PushFlags& flags);
int run_push(const settings::Settings& settings, const PushFlags& flags, bool json, bool quiet,
             const CancelToken& cancel);

}  // namespace enginehost::commands
