// The JSON document of an outcome, and the platform's and the settings' part of it.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include "base/json.hpp"
#include "host/open/fetch.hpp"
#include "host/open/open.hpp"

namespace enginehost::open {

Json tool_document();                                      // {"name","version","plugin_abi"}
Json config_document(const settings::Settings& settings);  // [{"key","value","source"}]
Json warnings_document(const OpenContext& context, const std::vector<Diagnosis>& warnings);
// Returns the builds that were not taken: "build", "verdict" and "diagnosis" of each.
Json turned_down_document(const std::vector<TurnedDown>& builds);
// Returns the whole document of `engine-info ENGINE --json`. Evaluates the candidates first if the outcome
// came from a cached decision.
Json document(OpenContext& context, Outcome& outcome);

}  // namespace enginehost::open
