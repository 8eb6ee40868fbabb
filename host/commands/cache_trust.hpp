// engine-cache trust: the keys whose signatures of repositories count.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "host/commands/cli.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

struct TrustFlags {
  std::string key;         // a file, the key itself, or for remove a key id
  std::string repository;  // for forget
  std::vector<std::string> engines;
  std::int64_t threshold = 1;
  CLI::App* add = nullptr;
  CLI::App* list = nullptr;
  CLI::App* remove = nullptr;
  CLI::App* forget = nullptr;
};

CLI::App* add_trust(CLI::App& app, TrustFlags& flags);
int run_trust(const settings::Settings& settings, const TrustFlags& flags, bool json);

}  // namespace enginehost::commands
