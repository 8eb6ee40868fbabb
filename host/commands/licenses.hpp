// engine-cache licenses: the licenses that cover the engines, and who accepted them.
#pragma once
#include <string>

#include "base/cancel.hpp"
#include "host/commands/cli.hpp"
#include "host/commands/common.hpp"

namespace enginehost::commands {

struct LicenseFlags {
  std::string action, id, text;
};

CLI::App* add_licenses(CLI::App& app, LicenseFlags& flags);
int run_licenses(const settings::Settings& settings, const LicenseFlags& flags, const CommonFlags& common,
                 const CancelToken& cancel);

}  // namespace enginehost::commands
