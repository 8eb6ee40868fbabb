// The list of what is in a bundle, for auditors: SPDX 2.3 in JSON.
#pragma once
#include <string>
#include <vector>

#include "host/manifest/catalog.hpp"

namespace enginehost::offline {

// One package a component and one a build, which contains its components. The same builds give the same text:
// the time is that of the newest manifest, the namespace comes from the content.
std::string spdx_of(const std::vector<std::shared_ptr<const manifest::Build>>& builds);

}  // namespace enginehost::offline
