// Deciding: (platform, catalog, history, request) -> plan. Pure: no input or output of its own.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnosis.hpp"
#include "host/history/history.hpp"
#include "host/manifest/catalog.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::resolve {

struct Request {
  std::string engine;
  std::string version;  // "2.0" means the newest 2.0.x; ">=2.0,<3" works too (version_wish.hpp); empty: any
  std::string flavor;   // wished for, or demanded with `require`
  std::string device;   // "cuda:0": must be opened; "cuda:0,cpu": the first if possible; empty: any
  std::string flavor_source;  // what set the flavor: "--require", "ENGINEHOST_FLAVOR", a file
  std::string device_source;  // what set the device, the same way
  bool require = false;       // exactly `flavor` or an error, no fallback
  bool offline = false;
  std::string force;                // a build id that is tried in spite of quarantine, first
  std::set<std::string> installed;  // build ids that need no download
};

enum class Answer { yes, no, unknown };

// One requirement of a build held against the platform.
struct Check {
  std::string requirement;  // "glibc >= 2.17", "compute capability of device 0 in 3.7 5.0 … 9.0"
  std::string observed;     // "2.36", "none", "unknown"
  std::string source;       // of the observation
  Answer result = Answer::yes;
  std::string code;  // of the failure class when the answer is no: "EH-L08"
  std::vector<Evidence>
      evidence;  // for the diagnosis when the answer is no: "required", "found", and the class's own
};

enum class Verdict { chosen, fits, rejected, quarantined, disabled, failed, unavailable };
const char* name_of(Verdict verdict);
const char* name_of(Answer answer);

struct Question;  // what the builds were held against

// A build weighed. Its texts are made when they are asked for, out of the machine and the request that it was
// weighed against: hundreds are decided for each one that is looked at. A plain value; any thread may ask.
class Candidate {
 public:
  Candidate() = default;
  Candidate(std::shared_ptr<const manifest::Build> weighed, std::shared_ptr<const Question> against)
      : build(std::move(weighed)), question_(std::move(against)) {}

  std::shared_ptr<const manifest::Build> build;
  int rank = 0;         // 1 is tried first; 0: not tried
  bool proven = false;  // probed and loaded here before, with the same artifacts
  Verdict verdict = Verdict::fits;
  // A version before its release that the request does not name, ranked behind a released one that fits.
  bool behind_releases = false;

  // Every requirement with what was observed, in the order in which they were looked at.
  std::vector<Check> checks() const;
  // Why it is not tried, or how it failed; none where a check says it all: builds for other systems, versions
  // and flavors.
  std::optional<Diagnosis> diagnosis() const;
  // Sets it aside, or notes that it failed, for that reason.
  void turn_down(Verdict how, Diagnosis why);

 private:
  std::shared_ptr<const Question> question_;
  std::shared_ptr<const Diagnosis> turned_down_;
};

struct Plan {
  Request request;
  std::vector<Candidate>
      candidates;         // ranked ones first, in order; then quarantined, unavailable, rejected ones
  bool fallback = false;  // a better candidate is quarantined, or the first one is not what was wished for
  std::optional<Diagnosis> diagnosis;  // when no candidate is left: EH-S01, EH-S02 (unknown engine), …
  // EH-S22 ("build", "reason" or "nearest"): the forced build is not the one that is tried first.
  std::optional<Diagnosis> forced_in_vain;
};

// Weighs every build of the engine. The first candidate, if any is ranked, is `chosen`, the other ranked ones
// `fits`; a build with a "no" among its checks is never ranked, and "unknown" never counts as "yes". A build
// that is for another system, version or flavor stops at that check. `force` overrides history, not
// requirements. A version before its release is ranked behind every other one that fits, unless the request
// names one. `now` in seconds since 1970, for quarantines that end with time. History is taken as it is:
// stale records have been dropped by its reader; it counts for a build with the same artifacts only. Pure,
// any thread, linear in builds. Plan::diagnosis when nothing is ranked: EH-S02 ("engine", "nearest",
// "known"…); else the best candidate's own when it is quarantined or unavailable; else EH-S01 ("engine",
// "count", "request", "build", "reason", "candidate"…; for what of the request turned builds down
// "unknown_version" with "nearest_version", or "of_other_versions", "of_other_flavors", "for_other_devices").
Plan decide(const platform::Platform& platform, const manifest::Catalog& catalog,
            const history::History& history, const Request& request, std::int64_t now);

}  // namespace enginehost::resolve
