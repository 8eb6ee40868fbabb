// Engines of an installation as builds: a runtime that is here already, and the plugin of the catalog that
// fits.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host/installations/installation.hpp"

namespace enginehost::installations {

// Where everything else that ranks is equal, what is here already goes before what would be fetched.
inline constexpr int priority_in_place = 100;

// A digest of the stamps of those files: another one after any of them was replaced.
std::string identity_of(const std::vector<std::string>& files);

// One manifest of one build for each engine. Its plugin is the first of the catalog that fits: for an
// engine whose interface is C++ one for the same minor version, C++ ABI and library names, for others one for
// the same major version and kind of device. Where none fits, and where the installation itself is not whole,
// the build's InPlace::problem says so (EH-S32 with "found", "plugin"...; or what reading the files gave).
std::vector<std::shared_ptr<const manifest::Manifest>> manifests_of(const Installation& installation,
                                                                    const manifest::Catalog& catalog);

}  // namespace enginehost::installations
