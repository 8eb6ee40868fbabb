// One attempt to open one build: install it, check its files, probe it in a child process, load it, and
// record the result.
//
// Thread safety: use one OpenContext from one thread at a time. Attempts of several threads load code one
// after the other (process_engines.hpp).
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/store.hpp"
#include "host/acquire/acquire.hpp"
#include "host/context/open_context.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/listeners.hpp"
#include "host/resolve/plan.hpp"
#include "host/transfer/progress.hpp"

namespace enginehost::open {

// How an attempt is to be made, and its callbacks.
struct AttemptOptions {
  bool probe = true;  // false: loads into this process at once, at the caller's risk; records no proof
  std::optional<std::chrono::seconds> probe_deadline;  // not set: from the settings or the manifest
  std::function<Result<void>(const acquire::Question&)> consent;  // not set: agrees to everything
  transfer::ProgressCallback progress;
  std::function<void()> before_probe;    // called before each start of the probe; may be null
  std::shared_ptr<load::EngineLog> log;  // gets the plugin's log, here and in the probe; may be null
  std::int32_t log_level = 0;            // lowest ENGINE_LOG_* level wanted; 0: from the settings
  // Set: a build for GPUs is opened by this record on its processor, because its GPUs failed. It need not be
  // in the history. Null: its GPUs must work, unless the request is for processors.
  const history::Record* on_processor = nullptr;
};

// Returns the lowest ENGINE_LOG_* level that is wanted.
std::int32_t log_level(const AttemptOptions& options, const settings::Settings& settings);

// An engine in this process with everything that keeps it usable. Destroy its models and tensors first. The
// order of the members makes the engine go before its plugin, and the lease last.
struct Opened {
  cache::Lease lease;
  cache::Installed installed;  // for a plugin without a manifest: only `plugin` and `folder`
  std::shared_ptr<load::LoadedPlugin> plugin;
  std::shared_ptr<load::EngineLog> log;                // AttemptOptions::log
  load::EngineOptions engine_options;                  // the engine was created with these
  std::vector<std::unique_ptr<load::Engine>> retired;  // their device was lost; kept for models and tensors
  std::unique_ptr<load::Engine> engine;
  std::vector<load::Device> devices;  // those of the engine, without the unusable ones
  // Accelerators that the engine lists and that failed in the probe, each with "device".
  std::vector<Diagnosis> unusable;
  bool on_processor = false;  // AttemptOptions::on_processor was set
  // Libraries that entered the process with the plugin, and with the runtime that create() opened.
  std::vector<load::Library> libraries;
};

// Facts of an attempt beside its result; filled in on success and on failure.
struct AttemptLog {
  std::uint64_t downloaded = 0;
  double download_seconds = 0;
  bool probed = false, proven_before = false;
  // Set if the build's GPUs failed in the probe and its processor works: the record of that.
  std::optional<history::Record> on_processor;
  std::vector<Diagnosis> warnings;
  // Adds the warning unless it is there already. The child and this process often report the same warning.
  void warn(Diagnosis warning);
  std::vector<std::pair<std::string, double>> timings_ms;  // keys: "acquire", "preflight", "probe", "load"
};

// Opens the build. `devices` names the devices that must be there ("cuda:0"); empty means any.
//
// If any stage finds wrong bytes, the files are moved aside and fetched again, at most twice. A transient
// failure (no free descriptors, a device that is busy when the engine is made) is retried three times within
// 2 seconds. A lasting failure is recorded with the files that it depends on.
//
// A build for GPUs fails if none of its GPUs computes in the probe, or if its engine lists other accelerators
// than in the probe or the record.
//
// Libraries of a load that failed stay in the process. A build that they would disturb is not loaded (EH-L17
// with "left_by").
Result<std::shared_ptr<Opened>> attempt(OpenContext& context, const manifest::Build& build,
                                        const std::vector<std::string>& devices,
                                        const AttemptOptions& options, AttemptLog& log);

// Opens the build that a cached decision names. Checks only the record of the build and the stamps of its
// files. Moves the build's record out of the decision.
//
// On failure nothing is recorded and nothing is repaired, because the caller then decides again and meets the
// same failure. EH-F01 with "build": the build is not installed, or another one than the decision's.
struct CachedDecision;
Result<std::shared_ptr<Opened>> attempt_cached(OpenContext& context, CachedDecision& decision,
                                               const std::vector<std::string>& devices,
                                               const AttemptOptions& options, AttemptLog& log);

// Opens a plugin by its path, without manifest and history. For engine authors.
Result<std::shared_ptr<Opened>> attempt_file(OpenContext& context, const std::filesystem::path& plugin,
                                             const std::vector<std::string>& devices,
                                             const AttemptOptions& options, AttemptLog& log);

}  // namespace enginehost::open
