// The libraries of CUDA and cuDNN that an installation holds, and builds that can be completed with them.
#pragma once
#include <memory>
#include <vector>

#include "host/installations/installation.hpp"
#include "host/installations/places.hpp"

namespace enginehost::installations {

// In lib/ of a conda environment, below nvidia/ of Python packages, in a folder of libraries. What an engine
// has renamed for itself (libcudart-d0da41ae.so.11.0) is nobody else's.
std::vector<CudaLibrary> cuda_libraries_of(const Places& places);

// The CUDA library's stem: "libcudart" of "libcudart.so.12"; empty when it is none. It may lie in
// the name given.
std::string_view cuda_stem(std::string_view file_name);

// For every build of the catalog that wants libraries of the system which the installation holds, or has
// components whose libraries it holds all: the same build with those of the installation, by absolute path,
// and ranked before the one that it was made of. It keeps its manifest alive.
std::vector<std::shared_ptr<const manifest::Build>> completed_builds(const Installation& installation,
                                                                     const manifest::Catalog& catalog);

}  // namespace enginehost::installations
