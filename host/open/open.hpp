// The one loop: plan, then for each candidate in order acquire, preflight, probe, load, record; else the next
// one. The first place to look for how a request walks through the house.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "host/open/attempt.hpp"
#include "host/open/open_context.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::open {

struct OpenRequest {
  resolve::Request request;      // flavor, device, offline, force are completed from the settings when empty
  bool plan_only = false;        // decide: nothing is downloaded or loaded. A recorded platform implies it
  std::filesystem::path plugin;  // engine authors: this file instead of a manifest's build; absolute
  // Weigh every candidate, whatever a cached decision says: for who wants to see them.
  bool bypass_cache = false;
  AttemptOptions attempt;
};

enum class State { opened, planned, failed };
const char* name_of(State state);

// What came of a request. Movable; the engine lives as long as `opened`.
struct Outcome {
  State state = State::failed;
  // With the verdicts as they ended. Of an open by a cached decision only the request: see weigh().
  resolve::Plan plan;
  bool by_cached_decision = false;
  std::shared_ptr<const CachedDecision> decision;  // that led here, found under settings
  std::shared_ptr<Opened> opened;                  // state opened
  // In plan.candidates: what was opened, or would be. Nothing where the plan is not there, or no longer lists
  // it.
  const resolve::Candidate* chosen = nullptr;
  bool fallback = false;  // a better candidate failed or is quarantined, or the request was not met
  bool proven_before = false, probed = false;
  std::uint64_t downloaded = 0;
  double download_seconds = 0;
  std::vector<std::pair<std::string, double>> timings_ms;
  std::vector<Diagnosis> warnings;
  std::optional<Diagnosis> diagnosis;  // why nothing could be opened, or why the first in rank could not

  int exit_status() const;  // of a command that ends with this outcome
};

// Whoever gave up, or declined a download, does not want to be asked about the next build. A license that
// nobody accepted is another matter: the next build may do without it.
bool ends_the_search(const Diagnosis& failure);

// Never throws. Blocks while downloading and probing; World::cancel() ends it with EH-P10.
Outcome open_engine(OpenContext& context, const OpenRequest& request);

// The same where a early decision leads, in a world made of its places. Nothing when the build does not come
// up that way: then open it with settings. Takes the record out of `ready`.
struct EarlyDecision;
std::optional<Outcome> open_engine(OpenContext& context, const OpenRequest& request, EarlyDecision& ready,
                                   std::chrono::steady_clock::time_point begin);

// Fills in the plan of an outcome that a cached decision led to. For people: candidates are weighed as of
// now.
void weigh(OpenContext& context, Outcome& outcome);

// The wished devices: "cuda:0,cpu" is {"cuda:0","cpu"}.
std::vector<std::string> requested_devices(const resolve::Request& request);

}  // namespace enginehost::open
