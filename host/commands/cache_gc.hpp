// engine-cache gc, pin, unpin: what may go, and what may not.
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

// The exit status.
int run_gc(const settings::Settings& settings, const cache::Store& store, const GcFlags& flags, bool json);

// "500M", "2.5 GiB", "1000000": bytes, K, M, G, T as powers of 1024. Nothing when it is not a size.
std::optional<std::uint64_t> parse_size(std::string_view text);
// "30d", "12h", "90m", "45s", "2w". Nothing when it is not a time.
std::optional<std::chrono::seconds> parse_age(std::string_view text);

}  // namespace enginehost::commands
