// Which CUDA an engine of an installation was compiled for.
#pragma once
#include <optional>
#include <string>

#include "host/binary/binary.hpp"
#include "host/installations/known_engines.hpp"
#include "host/installations/places.hpp"

namespace enginehost::installations {

struct CudaVersion {
  std::string toolkit;  // "11.8"; "12.0" where the minor version is not told: any 12.x serves then
  std::string source;
};

// The major version is that of the SONAMEs which the engine's libraries need (libcudart.so.11.0: 11; CUDA
// keeps it for a whole major version); the minor one is that of libnvrtc-builtins beside them, whose name has
// both, else of the CUDA runtime's package, else what PyTorch's version.py says. Nothing when no library of
// CUDA is needed.
std::optional<CudaVersion> cuda_version_of(const Places& places, const KnownEngine& engine,
                                           const std::vector<binary::BinaryInfo>& infos,
                                           const std::filesystem::path& library_folder);

}  // namespace enginehost::installations
