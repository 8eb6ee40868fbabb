// Finds out for which CUDA version an installed engine was compiled.
#pragma once
#include <optional>
#include <string>

#include "host/binary/binary.hpp"
#include "host/installations/known_engines.hpp"
#include "host/installations/places.hpp"

namespace enginehost::installations {

struct CudaVersion {
  std::string toolkit;  // "11.8"; "12.0" where the minor version is unknown: any 12.x then fits
  std::string source;
};

// The major version comes from the SONAMEs that the engine's libraries need (libcudart.so.11.0: 11; CUDA
// keeps it for a whole major version). The minor version comes from libnvrtc-builtins beside them, whose name
// has both, else from the CUDA runtime's package, else from PyTorch's version.py. Returns nothing when no
// CUDA library is needed.
std::optional<CudaVersion> cuda_version_of(const Places& places, const KnownEngine& engine,
                                           const std::vector<binary::BinaryInfo>& infos,
                                           const std::filesystem::path& library_folder);

}  // namespace enginehost::installations
