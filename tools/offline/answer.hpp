// Answers the request of a machine without network access (host/offline/request.hpp).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/offline/request.hpp"
#include "host/open/open.hpp"
#include "tools/offline/export_bundle.hpp"

namespace enginehost::offline {

// Errors: EH-M01, EH-M02 ("document", "member", "problem"), EH-M04: not such a document.
Result<SiteRequest> read_request(std::string_view text, std::string_view name);

struct Answer {
  EngineConstraint constraint;
  std::string build;       // the chosen build's id
  bool was_there = false;  // the requesting machine has it already
  std::uint64_t downloaded = 0;
  std::vector<std::string> passed_over;            // better builds that are quarantined there, best first
  std::vector<open::TurnedDown> turned_down = {};  // better builds that could not be fetched here
  std::vector<Diagnosis> warnings = {};            // see acquire::Acquired
};

// Chooses for the requesting machine by the rules of an open there, and installs the chosen builds here.
// Skips builds that are quarantined there; EH-S14 ("set_aside_by") where only such builds fit. Fails with the
// first constraint that cannot be met.
Result<std::vector<Answer>> answer(const settings::Settings& settings, const SiteRequest& request,
                                   const open::FetchOptions& options,
                                   const std::optional<CancelToken>& cancel = {});

// Selects what a bundle for that machine must bring, and what it can leave out.
Selection selection_for(const SiteRequest& request, const std::vector<Answer>& answers);

}  // namespace enginehost::offline
