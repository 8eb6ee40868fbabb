// The decision: (platform, catalog, history, request) -> plan. Pure: it reads and writes nothing else.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnosis.hpp"
#include "host/history/history.hpp"
#include "host/manifest/catalog.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::resolve {

// The behavior of an open if an installed build fits and a newer one would have to be fetched. It takes the
// installed one and reports the newer one, fetches the newer one, or takes the installed one silently.
enum class Update { report, open, never };
// `text`: of the setting "update".
Update update_of(std::string_view text);

struct Request {
  std::string engine;
  std::string version;        // "2.0": the newest 2.0.x; ">=2.0,<3" (version_specifier.hpp); empty: any
  std::string flavor;         // preferred, or required with `require`
  std::string device;         // "cuda:0": must be opened; "cuda:0,cpu": the first if possible; empty: any
  std::string flavor_source;  // what set the flavor: "--require", "ENGINEHOST_FLAVOR", a file
  std::string device_source;  // what set the device, the same way
  bool require = false;       // exactly `flavor` or an error, no fallback
  bool offline = false;
  // A build id that is tried first, even if it is quarantined or the machine does not meet its requirements.
  std::string force;
  std::set<std::string> installed;  // build ids that need no download
  // Those of them that `update` is about: EngineHost installed them from a repository, on the machine that is
  // decided for.
  std::set<std::string> installed_here;
  Update update = Update::report;
  // The build that somebody went back to (history::LastUpdate): it goes before newer ones. Empty: none.
  std::string held;
  bool past_rollback = false;  // a rollback on record does not count
  // The range of versions that the machine's policy allows, and its file; empty: all.
  std::string allowed_versions, allowed_by;
};

enum class Answer { yes, no, unknown };

// One requirement of a build, checked against the platform.
struct Check {
  std::string requirement;  // "glibc >= 2.17", "compute capability of device 0 in 3.7 5.0 … 9.0"
  std::string observed;     // "2.36", "none", "unknown"
  std::string source;       // of the observation
  std::string required;     // the bound alone: ">= 2.17"; empty where the evidence is of another kind
  Answer result = Answer::yes;
  Code code = Code::none;          // the failure class if the answer is no
  bool left_to_preflight = false;  // an unknown that is checked before loading in any case
  bool overridden = false;         // a no that does not refuse the build, because the request forces it
  std::vector<Evidence>
      evidence;  // for the diagnosis when the answer is no: "required", "found", and the class's own
};

enum class Verdict { chosen, fits, rejected, quarantined, disabled, failed, unavailable };
const char* name_of(Verdict verdict);
const char* name_of(Answer answer);

// Returns the devices that a request names, in order: "cuda:0,cpu" is {"cuda:0","cpu"}.
std::vector<std::string> devices_of(const std::string& request);

// The criteria of ranking, most important first; see the contract's "Ranking". The smaller is tried
// first; equal ones keep the order of the catalog.
struct Rank {
  int not_forced = 1;
  int unnamed_prerelease = 0;    // tried if nothing else fits, or if the request names one
  int flavor_not_requested = 0;  // a flavor was requested and this is another one
  int device_place = 0;          // position of the build's main device in the request's list
  int not_held = 0;              // somebody went back to another build
  int has_unknown = 0;
  int is_cpu = 0;
  int unserved = 0;               // visible GPUs that it has no code for
  int not_installed = 0;          // would have to be fetched; 0 for all builds with Update::open
  int version_place = 0;          // among the available versions, newest first: of all builds
  int not_installed_version = 0;  // the same as not_installed, whatever the request's `update`
  int stands_in = 0;              // has stand-ins for NVIDIA's libraries, and the machine has NVIDIA's driver
  int by_minor_version = 0;       // CUDA only by minor-version compatibility
  int library_not_looked_for = 0;
  int priority = 0;       // negative, because the greater goes first
  int toolkit = 0;        // 100 * major + minor of CUDA or ROCm, negative
  int not_completed = 1;  // no part of it is taken from an installation of this machine
  int not_proven = 1;
  auto operator<=>(const Rank&) const = default;
};

// A build with its evaluation.
struct Candidate {
  std::shared_ptr<const manifest::Build> build;
  int rank = 0;               // 1 is tried first; 0: not tried
  bool proven = false;        // probed and loaded here before, with the same artifacts
  bool asked_for = false;     // for this system, and of the requested version and flavor
  std::vector<Check> checks;  // every requirement with its observation, in the order of the checks
  Verdict verdict = Verdict::fits;
  // A prerelease that the request does not name, ranked behind a released version that fits.
  bool behind_releases = false;
  bool uncertain = false;  // a requirement is unknown; those that preflight checks do not count
  // The build is tried only because the request forces it: `checks` has refusals that are overridden.
  bool forced = false;
  // Its GPUs failed here, and it works on the processor, which the request allows. Ranked behind all others.
  bool on_processor = false;
  Rank merit;  // that it would have if all builds fitted, without proofs, doubts and force
  // Why it is quarantined or disabled, how it failed, or why only its processor is used.
  std::optional<Diagnosis> turned_down;
  // The reason why an open would stop before the download begins: policy (EH-P01), a license that nobody
  // accepted (EH-P03), a cache that cannot be written (EH-F16). Filled in by open::foresee().
  std::optional<Diagnosis> obstacle;

  // Returns why it is not tried, or how it failed. Returns nothing if a check says everything: builds for
  // other systems, versions and flavors.
  std::optional<Diagnosis> diagnosis() const;
  // Sets the verdict (quarantined, disabled, failed) and its reason.
  void turn_down(Verdict how, Diagnosis why);
};

struct Plan {
  Request request;
  // Ranked ones first, in order; then those that did not get a rank, nearest to fitting first.
  std::vector<Candidate> candidates;
  bool fallback = false;  // a better candidate is quarantined, or the first one is not as requested
  // The build that would be tried first with Update::open, if that is another one and the request has
  // Update::report: a newer version that is not installed.
  std::shared_ptr<const manifest::Build> update;
  std::optional<Diagnosis> diagnosis;  // if no candidate is left: EH-S01, EH-S02 (unknown engine), …
  // EH-S22 ("build", "reason" or "nearest"): the forced build is not tried first.
  std::optional<Diagnosis> forced_in_vain;
  // EH-S28: the preferred flavor is a version, a device or a version of CUDA, so no build can have it.
  std::optional<Diagnosis> misplaced_flavor;
};

// Returns true if the devices that a request names are processors only. False if it names none.
bool are_processors(const std::vector<std::string>& devices);
// Returns true if a build for GPUs may serve the request on the processor.
bool may_use_processor(const Request& request);

// Evaluates every build of the engine and ranks those that may be tried.
//
// - The first ranked candidate is `chosen`, the others `fits`. A build with a "no" among its checks is never
//   ranked; "unknown" never counts as "yes".
// - Checks of a build for another system, version or flavor stop there.
// - `force` overrides history and the checks of the machine (system, processor, libraries, driver, GPU). It
//   does not override the request's other parts (another system, version, flavor or device), nor
//   availability: a build that is withdrawn, blocked, expired, without digest or plugin, or to be downloaded
//   while offline. Policy, licenses and signatures are checked elsewhere and do not know the request's
//   `force`.
// - A build that has code for more of the visible GPUs is ranked before a newer one. A device that the
//   request names by number decides alone.
// - A prerelease is ranked behind every other build that fits, unless the request names one.
// - A build that is installed is ranked before a newer one that would have to be fetched, if they serve the
//   same devices (docs/decisions/042). With Update::open it is ranked before others of its version only.
// - A build that somebody went back to is ranked before all others that serve the request as well, whatever
//   `update` says (docs/decisions/045). One that does not fit changes nothing.
// - A build of a version that the policy does not allow is never ranked (EH-S34), not even by `force`.
// - A build with stand-ins is ranked behind the same version without, on a machine with NVIDIA's driver:
//   another engine of the process may need NVIDIA's own libraries, and one process has one file for each
//   name.
// - History is taken as it is, because its reader dropped stale records. It counts only for a build with the
//   same artifacts.
// - A build whose GPUs failed here is `quarantined`, and still ranked, behind all others, if it works on the
//   processor and the request allows that: it requires no flavor, and names no device or the processor too.
//   Opening it is a fallback. A request for the processor alone takes it as any other build.
// - `now` is in seconds since 1970, for quarantines that end with time.
//
// Plan::diagnosis if nothing is ranked: EH-S02 ("engine", "nearest", "known"…); else the best candidate's own
// if it is quarantined or unavailable; else EH-S01 ("engine", "count", "request", "build", "reason",
// "candidate"…), EH-S28 if no build has the required flavor, EH-S29 if a device is a flavor. EH-S01 also
// names the parts of the request that refused builds: "unknown_version" with "nearest_version" and each
// "version_here" that fits, the newest of each minor release (without "build", "reason" and "candidate"), and
// "of_flavor" if other flavors have the version; or "of_other_versions", "of_other_flavors",
// "for_other_devices".
//
// Pure, any thread, linear in builds.
Plan decide(const platform::Platform& platform, const manifest::Catalog& catalog,
            const history::History& history, const Request& request, std::int64_t now);

}  // namespace enginehost::resolve
