// Explains to a request the failures of the repositories of a catalog.
//
// Thread safety: any thread.
#pragma once
#include <optional>
#include <vector>

#include "base/diagnosis.hpp"
#include "host/manifest/catalog.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::catalog {

// Returns the plan's diagnosis, or the reason why builds are unknown. "Unknown engine" and "no build fits"
// are not the cause while a repository cannot be reached or is not as published. Further failures are in
// "also".
std::optional<Diagnosis> why_nothing_is_known(const manifest::Catalog& catalog, const resolve::Plan& plan);

// Returns EH-P01 for a repository that the command line or the request names and policy forbids. It is the
// answer whatever other repositories offer. A forbidden repository of a configuration file is left out, with
// a warning.
std::optional<Diagnosis> forbidden_by_name(const manifest::Catalog& catalog);

// Returns each repository and manifest that could not be read, once, as warnings for a request that succeeds
// anyway. Omits repositories that were not asked because the request is offline.
std::vector<Diagnosis> catalog_warnings(const manifest::Catalog& catalog, bool offline);

}  // namespace enginehost::catalog
