// One candidate: installed, checked, tried in a child, loaded, remembered.
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
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/engine_log.hpp"
#include "host/open/open_context.hpp"
#include "host/resolve/plan.hpp"
#include "host/transfer/progress.hpp"

namespace enginehost::open {

// What may happen on the way, and who is told.
struct AttemptOptions {
  bool probe =
      true;  // false: straight into this process, at the caller's risk; nothing is remembered as proven
  std::optional<std::chrono::seconds> probe_deadline;             // not set: the settings' or the manifest's
  std::function<Result<void>(const acquire::Question&)> consent;  // not set: everything is agreed to
  transfer::ProgressCallback progress;
  std::shared_ptr<load::EngineLog> log;  // of the plugin, here and in the probe; null: nobody wants it
  std::int32_t log_level = 0;            // ENGINE_LOG_*: from there on; 0: as settings say
};

// An engine in this process with what keeps it usable. Destroy its models and tensors first. Members are
// declared so that the engine goes before its plugin and the lease last.
struct Opened {
  cache::Lease lease;
  cache::Installed installed;  // of a plugin without manifest: only `plugin` and `folder`
  std::shared_ptr<load::LoadedPlugin> plugin;
  std::shared_ptr<load::EngineLog> log;                // as it was asked for
  load::EngineOptions engine_options;                  // it was made with
  std::vector<std::unique_ptr<load::Engine>> retired;  // lost their device; kept for their models and tensors
  std::unique_ptr<load::Engine> engine;
  std::vector<load::Device> devices;
  // What came into the process with it: of the plugin, and of the runtime that it opened when its engine was
  // made.
  std::vector<load::Library> libraries;
};

// What an attempt left behind beside its result; filled in on success and on failure.
struct AttemptLog {
  std::uint64_t downloaded = 0;
  double download_seconds = 0;
  bool probed = false, proven_before = false;
  std::vector<Diagnosis> warnings;
  // Adds it unless the same was told: a child and this process see the same of a build, now or the first
  // time.
  void warn(Diagnosis warning);
  std::vector<std::pair<std::string, double>> timings_ms;  // "acquire", "preflight", "probe", "load"
};

// Brings the build up. `devices`: names that must be there ("cuda:0"), empty for any. Wrong bytes found by
// any stage are thrown away and fetched again, twice; what fails for the moment (a busy device, no
// descriptors left) is tried again three times in 2 seconds. What failed for good is remembered with the
// files it depends on. What failed in this process leaves its libraries behind: a build that they would
// disturb is not loaded (EH-L17 with "left_by").
Result<std::shared_ptr<Opened>> attempt(OpenContext& context, const manifest::Build& build,
                                        const std::vector<std::string>& devices,
                                        const AttemptOptions& options, AttemptLog& log);

// The same for a build that a cached decision vouches for: its record is looked at, unless that is known
// already
// (`record`, which is taken; else null), and its files are stat'ed, nothing else. On failure nothing is
// remembered and nothing is repaired: who decides again will meet it again. EH-F01 with "build" when it is
// not installed, or is another than the cached decision's.
struct CachedDecision;
Result<std::shared_ptr<Opened>> attempt_cached(OpenContext& context, const CachedDecision& decision,
                                               cache::Installed* record,
                                               const std::vector<std::string>& devices,
                                               const AttemptOptions& options, AttemptLog& log);

// A plugin by path, without manifest and history, for engine authors.
Result<std::shared_ptr<Opened>> attempt_file(OpenContext& context, const std::filesystem::path& plugin,
                                             const std::vector<std::string>& devices,
                                             const AttemptOptions& options, AttemptLog& log);

}  // namespace enginehost::open
