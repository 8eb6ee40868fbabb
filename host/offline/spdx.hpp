// The list of a bundle's contents for auditors: SPDX 2.3 in JSON.
#pragma once
#include <string>
#include <vector>

#include "host/manifest/catalog.hpp"

namespace enginehost::offline {

// Returns one package per component and one per build, which contains its components. The same builds give
// the same text: the time is the newest manifest's, and the namespace comes from the content.
std::string spdx_of(const std::vector<std::shared_ptr<const manifest::Build>>& builds);

}  // namespace enginehost::offline
