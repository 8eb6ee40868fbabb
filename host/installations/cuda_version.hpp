// Finds out for which CUDA version an installed engine was compiled.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/binary/binary.hpp"
#include "host/installations/installation.hpp"
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

// Returns the CUDA major version that a library's name or a name in a library shows: 12 for "libcublas.so.12"
// and "libcufft.so.11". Returns 0 for names that are the same for several: "libcudnn.so.9",
// "libcurand.so.10".
std::int64_t cuda_major_of_name(std::string_view name);

// For which CUDA major version each library of an installation was compiled. A library says so by its own
// name, by the names it needs, or by the compiler's mark in its device code; cuDNN's parts are of one
// version. A library without any of these counts as of the version that the installation's other names agree
// on. Reads a part of a file at the first question about it; one thread at a time.
class CudaMajors {
 public:
  explicit CudaMajors(const std::vector<CudaLibrary>& libraries);
  std::int64_t of(const CudaLibrary& library);  // 0: unknown

 private:
  std::int64_t read(const CudaLibrary& library);
  const std::vector<CudaLibrary>& libraries_;
  std::int64_t of_names_ = 0;  // 0: no name shows a version, or they differ
  std::map<std::string, std::int64_t> known_;
};

}  // namespace enginehost::installations
