// Turns installed engines into builds: the installed runtime plus the catalog's plugin that fits it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host/installations/installation.hpp"

namespace enginehost::installations {

// Ranks an installed runtime above downloads of its version.
inline constexpr int priority_in_place = 100;

// Returns a digest of the files' stamps, which changes when any file is replaced.
std::string identity_of(const std::vector<std::string>& files);

// Returns one manifest with one build per engine. The plugin is the first of the catalog that fits. An engine
// with a C++ interface needs a plugin for the same minor version, C++ ABI and library names; other engines
// need one for the same major version and kind of device. If no plugin fits, or the installation is
// incomplete, InPlace::problem of the build says so (EH-S32 with "found", "plugin"...; or the failure from
// reading the files).
std::vector<std::shared_ptr<const manifest::Manifest>> manifests_of(const Installation& installation,
                                                                    const manifest::Catalog& catalog);

}  // namespace enginehost::installations
