// `engine-cache export`, `import`, `request` and `fulfil`: builds for machines without a network.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/commands/cli.hpp"
#include "host/commands/common.hpp"

namespace enginehost::commands {

struct OfflineFlags {
  std::string file, output, base, max_part, layer, flavor, device, require;
  std::vector<std::string> builds, engines, redistribute;
  bool oci = false, unsigned_allowed = false;
};

struct OfflineRun {
  const settings::Settings& settings;
  const CommonFlags& common;
  const OfflineFlags& flags;
  const CancelToken& cancel;
};

// One command each. They print the text and return the document that --json prints.
Result<Json> export_command(const OfflineRun& run);
Result<Json> import_command(const OfflineRun& run);
Result<Json> request_command(const OfflineRun& run);
Result<Json> fulfil_command(const OfflineRun& run);

// Registers the four commands. run() runs the one that was called and returns its exit status; else nothing.
class OfflineCommands {
 public:
  explicit OfflineCommands(CLI::App& app);
  std::optional<int> run(const settings::Settings& settings, const CommonFlags& common,
                         const CancelToken& cancel) const;

 private:
  OfflineFlags flags_;
  std::vector<std::pair<CLI::App*, Result<Json> (*)(const OfflineRun&)>> commands_;
};

// Reads a size in bytes: "650M", "4G", "2000000"; K, M and G are powers of 1024. EH-P40 with "problem" for
// anything else, and for less than 1M.
Result<std::uint64_t> given_size(const std::string& option, const std::string& text);

// Returns a callback that shows the progress of work on files of this machine.
std::function<void(std::uint64_t, std::uint64_t)> bar_for(transfer::ProgressBar& bar, std::string what);

}  // namespace enginehost::commands
