// engine-cache gc, pin and unpin.
#pragma once
#include <string>

#include "cache/store.hpp"
#include "host/commands/cli.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

struct GcFlags {
  std::string max_size, max_age, build;
  bool dry_run = false, orphaned = false;
  CLI::App *collecting = nullptr, *pinning = nullptr, *unpinning = nullptr;

  bool parsed() const;
};

// `flags` must outlive the app.
void add_gc(CLI::App& app, GcFlags& flags);

// Returns the exit status.
int run_gc(const settings::Settings& settings, const cache::Store& store, const GcFlags& flags, bool json);

// Reads a size in bytes: "500M", "2.5 GiB", "1000000"; K, M, G and T are powers of 1024. Returns nothing for
// any other text.
std::optional<std::uint64_t> parse_size(std::string_view text);
// Reads a time: "30d", "12h", "90m", "45s", "2w". Returns nothing for any other text.
std::optional<std::chrono::seconds> parse_age(std::string_view text);

}  // namespace enginehost::commands
