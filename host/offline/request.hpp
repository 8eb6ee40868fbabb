// What a machine without a network asks for, and how it is answered where there is one.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "host/offline/export_bundle.hpp"
#include "host/open/fetch.hpp"
#include "host/open/open_context.hpp"

namespace enginehost::offline {

// An engine as it would be asked for at an open.
struct EngineConstraint {
  std::string engine, version, flavor, device;
  bool require = false;
};

// A plain value. Of the machine it holds what --platform-json shows: no UUID, no user's name.
struct SiteRequest {
  platform::Platform platform;
  std::vector<EngineConstraint> constraints;
  std::vector<std::string> installed;  // build ids
  std::vector<std::string> set_aside;  // that failed there, or were disabled
  std::set<std::string> holds;         // digests of the larger files there

  std::string text() const;
};

// Reads platform, cache and history of this machine.
SiteRequest request_of_this_machine(open::OpenContext& context, std::vector<EngineConstraint> constraints);

// EH-M01, EH-M02 ("document", "member", "problem"), EH-M04: not such a document.
Result<SiteRequest> read_request(std::string_view text, std::string_view name);

struct Answer {
  EngineConstraint constraint;
  std::string build;       // the id that was chosen
  bool was_there = false;  // the asking machine has it already
  std::uint64_t downloaded = 0;
  std::vector<std::string> passed_over;            // better builds that are quarantined there, best first
  std::vector<open::TurnedDown> turned_down = {};  // better builds that could not be had here
  std::vector<Diagnosis> warnings = {};            // as acquire::Acquired has them
};

// Chooses for the asking machine by the rules of an open there, and installs what was chosen here. Builds
// that are quarantined there are passed over; EH-S14 ("set_aside_by") where only such builds fit. Fails with
// the first wish that cannot be met.
Result<std::vector<Answer>> answer(const settings::Settings& settings, const SiteRequest& request,
                                   const open::FetchOptions& options,
                                   const std::optional<CancelToken>& cancel = {});

// What a bundle for that machine need not bring, and what it has to.
Selection selection_for(const SiteRequest& request, const std::vector<Answer>& answers);

}  // namespace enginehost::offline
