// How old what the repositories say is.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "host/manifest/catalog.hpp"

namespace enginehost::catalog {

// After this time newer releases have very likely been published: engines release every month or two.
constexpr std::int64_t days_until_old = 60;

// Returns "manifests of 2026-08-01" if even the newest index of the catalog is older than that. `now`:
// seconds since 1970. Pure; any thread.
std::optional<std::string> age_of_manifests(const manifest::Catalog& catalog, std::int64_t now);

}  // namespace enginehost::catalog
