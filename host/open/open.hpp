// The entry point of an open: plan, then for each candidate in order acquire, preflight, probe, load and
// record, until one opens. Start reading here to follow a request through the modules.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "host/acquire/acquire.hpp"
#include "host/acquire/pending.hpp"
#include "host/attempt/attempt.hpp"
#include "host/context/open_context.hpp"
#include "host/decision_cache/decision_cache.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::open {

struct OpenRequest {
  resolve::Request request;      // empty flavor, device, offline, force: from the settings
  bool plan_only = false;        // downloads and loads nothing; implied by a recorded platform
  std::filesystem::path plugin;  // this file instead of a manifest's build, for engine authors; absolute
  bool asks = false;  // attempt.consent can ask somebody: a plan then expects that a license is accepted
  // Evaluates every candidate even if there is a cached decision. For callers that report on the candidates.
  bool bypass_cache = false;
  // Called with EH-G27 before a build is tried whose GPU code the driver has to compile; may be null.
  std::function<void(const Diagnosis&)> before_compiling;
  AttemptOptions attempt;
};

enum class State { opened, planned, failed };
const char* name_of(State state);

// The result of a request. Movable; the engine lives as long as `opened`.
struct Outcome {
  State state = State::failed;
  // With the final verdicts. An open by a cached decision fills in only the request; see weigh().
  resolve::Plan plan;
  bool by_cached_decision = false;
  std::shared_ptr<Opened> opened;  // set if state is opened
  // Points into plan.candidates: the build that was opened, or would be. Null if the plan was not made, or no
  // longer lists the build.
  const resolve::Candidate* chosen = nullptr;
  // A better candidate failed or is quarantined, the request was not met, or a build for GPUs computes on the
  // processor because its GPUs failed.
  bool fallback = false;
  bool proven_before = false, probed = false;
  std::uint64_t downloaded = 0;
  double download_seconds = 0;
  std::vector<std::pair<std::string, double>> timings_ms;
  std::vector<Diagnosis> warnings;
  std::optional<Diagnosis> diagnosis;  // why nothing, or not the first in rank, could be opened

  int exit_status() const;  // of a command that ends with this outcome
};

// Returns true if the next candidate must not be tried: the user canceled or declined a download. A license
// that nobody accepted does not end the search, because the next build may not need it.
bool ends_the_search(const Diagnosis& failure);
// Returns true if no further candidate may be fetched, only an installed one tried: the disk is full, has no
// inodes left or a quota is used up, the process or the machine has no more memory or descriptors, or a GPU
// is busy or has no memory left.
bool fetches_no_more(const Diagnosis& failure);

// Keeps the result of a request among the failures of its candidates: EH-P10 if the caller canceled, else the
// first one that somebody here can act on, else the first one. A server that does not answer, or sends wrong
// bytes, is the result only if nothing else failed.
void keep_the_reason(std::optional<Diagnosis>& reason, const Diagnosis& failure);

// Opens the best candidate. Never throws. Blocks while it downloads and probes; the context's cancel token
// ends it with EH-P10. Keeps the decision in the cache if a later open may repeat it.
Outcome open_engine(OpenContext& context, OpenRequest request, DecisionCache& decisions);
Outcome open_engine(OpenContext& context, OpenRequest request);  // without the cache

// Returns the cache of the request's decisions. Call it before settings are read.
DecisionCache decisions_for(const settings::FlagValues& flags, const OpenRequest& request);

// Opens the build of a cached decision, in a context made of its places or of settings. Returns nothing if
// the build does not open that way; the caller then calls open_engine(). `begin`: of the open.
std::optional<Outcome> open_by(OpenContext& context, const OpenRequest& request, CachedDecision decision,
                               std::chrono::steady_clock::time_point begin);

// Opens by the cached decision if there is one, else as open_engine().
Outcome open_cached(OpenContext& context, const OpenRequest& request, DecisionCache& decisions);

// Fills in the plan of an outcome that a cached decision led to, for display. Evaluates the candidates as
// they are now.
void weigh(OpenContext& context, Outcome& outcome);

// Installs a build without opening it.
struct FetchOptions {
  std::function<Result<void>(const acquire::Question&)> consent;
  transfer::ProgressCallback progress;
  // Ids of builds to skip, because the machine they are fetched for cannot use them.
  std::vector<std::string> passed_over;
};

// Returns the parts of the build that an open would fetch; for a recorded machine, all of them.
acquire::Pending pending_download(OpenContext& context, const manifest::Build& build);

// A build that would have been taken, and why it was not.
struct TurnedDown {
  std::string build;
  resolve::Verdict verdict;  // failed or quarantined
  std::optional<Diagnosis> why;
};

// Returns the candidates of a tried plan that failed or that history quarantines.
std::vector<TurnedDown> turned_down(const resolve::Plan& plan);

// Returns true if a tried plan led to less than the best build of the request.
bool is_fallback(const resolve::Plan& plan);

// Installs the best build of the plan that can be fetched. If a source is down, the next candidate is tried.
// Sets the verdicts of the candidates. Fails with the failure that keep_the_reason() keeps, or with the
// reason why there is no candidate.
Result<acquire::Acquired> fetch_best(OpenContext& context, resolve::Plan& plan, const FetchOptions& options);

// The JSON document of an outcome, and the platform's and the settings' part of it.
Json tool_document();                                      // {"name","version","plugin_abi"}
Json config_document(const settings::Settings& settings);  // [{"key","value","source"}]
Json vendor_facts_document(OpenContext& context);  // {"serial","date","from","sha256"}; reads the catalog
Json warnings_document(const OpenContext& context, const std::vector<Diagnosis>& warnings);
// Returns the builds that were not taken: "build", "verdict" and "diagnosis" of each.
Json turned_down_document(const std::vector<TurnedDown>& builds);
// Returns the whole document of `engine-info ENGINE --json`. Evaluates the candidates first if the outcome
// came from a cached decision.
Json document(OpenContext& context, Outcome& outcome);

}  // namespace enginehost::open
