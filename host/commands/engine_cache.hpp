// engine-cache, and how a program adds subcommands to it: tools/commands adds those of publishers.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "cache/store.hpp"
#include "host/commands/common.hpp"

namespace enginehost::commands {

struct CacheRun {
  const settings::Settings& settings;
  const CommonFlags& common;
  const CancelToken& cancel;

  bool prints_text() const { return !common.json; }
  cache::Store store() const;
  // Prints warnings, unless --quiet or --json was given.
  void warn(const std::vector<std::string>& warnings, const std::vector<Diagnosis>& diagnoses = {}) const;
};

// The document that --json prints, and the exit status.
struct CacheAnswer {
  Json document;
  int status = 0;
  CacheAnswer(Json printed = {}, int ended = 0) : document(std::move(printed)), status(ended) {}
};

// A subcommand, or the last one of several. `run` holds its flags. It prints the text.
struct CacheSubcommand {
  CLI::App* parser = nullptr;
  std::function<Result<CacheAnswer>(const CacheRun& run)> run;
  bool writes = false;  // it always writes in the cache, and nowhere else: prepare_to_write() comes before it
};
using AddSubcommands = std::vector<CacheSubcommand> (*)(CLI::App& app);

std::vector<CacheSubcommand> add_update(CLI::App& app);
std::vector<CacheSubcommand> add_verify(CLI::App& app);
std::vector<CacheSubcommand> add_gc(CLI::App& app);  // and pin and unpin
std::vector<CacheSubcommand> add_quarantine(CLI::App& app);
std::vector<CacheSubcommand> add_licenses(CLI::App& app);
std::vector<CacheSubcommand> add_trust(CLI::App& app);
std::vector<CacheSubcommand> add_import(CLI::App& app);
std::vector<CacheSubcommand> add_request(CLI::App& app);
std::vector<CacheSubcommand> add_sdk(CLI::App& app);
std::vector<CacheSubcommand> add_lock(CLI::App& app);

// For subcommands that write nothing outside the cache: in a cache that all users read, new files are
// readable for them.
void prepare_to_write(const CacheRun& run);
// Returns whether the cache is one of the configured layers, or the default layer if none is configured. The
// layer need not exist yet.
bool is_system_layer(const cache::Store& store, const settings::Settings& settings);

// Runs the program and returns its status. Its own subcommands stand before the added ones.
int run_engine_cache(int argc, char** argv, const std::vector<AddSubcommands>& added);

}  // namespace enginehost::commands
