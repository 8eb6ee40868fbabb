// Turns installed engines into builds: the installed runtime plus the catalog's plugin that fits it,
// completed by the CUDA libraries of the installation.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host/installations/installation.hpp"
#include "host/installations/parts.hpp"

namespace enginehost::installations {

// The CUDA and cuDNN libraries of an installation, and builds that they can complete.

// Returns the libraries in lib/ of a conda environment, below nvidia/ of Python packages, or in a folder of
// libraries. Skips libraries that an engine renamed for its own use (libcudart-d0da41ae.so.11.0).
std::vector<CudaLibrary> cuda_libraries_of(const Places& places);

// Returns the stem of a CUDA library's name, as a view into `file_name`: "libcudart" for "libcudart.so.12".
// Empty for other names.
std::string_view cuda_stem(std::string_view file_name);

// Returns a completed copy of every catalog build that needs system libraries which the installation holds,
// or that has components whose libraries the installation holds completely. Only libraries for the build's
// CUDA major version count; the names of cuDNN, cuRAND and NCCL do not show it. The copy uses the
// installation's libraries by absolute path and keeps its manifest alive. It ranks before the original, and
// behind a build for a newer CUDA.
std::vector<std::shared_ptr<const manifest::Build>> completed_builds(const Installation& installation,
                                                                     const manifest::Catalog& catalog);

// Turns installed engines into builds: the installed runtime plus the catalog's plugin that fits it.

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
