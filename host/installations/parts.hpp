// Parts of recognizing installations: their folders, their packages, the libraries of their engines.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/binary/binary.hpp"
#include "host/installations/in_place.hpp"
#include "host/manifest/catalog.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::installations {

// The folders of an installation, depending on its layout.
struct Places {
  Layout layout = Layout::libraries;
  std::filesystem::path prefix;                  // of a conda environment; otherwise the folder itself
  std::vector<std::filesystem::path> packages;   // folders of Python packages
  std::vector<std::filesystem::path> libraries;  // folders of libraries
  bool is_system = false;                        // the machine's loader searches here by itself
};

// Error: EH-S30 ("path", "problem") when the path is not a folder that can be listed.
Result<Places> places_of(const std::filesystem::path& path);

// Returns the names in a folder, sorted; empty when it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// A package, as its package manager recorded it.
struct Package {
  std::string name, version;
  std::filesystem::path file;  // the file that states the version
};

// Returns packages of a folder of Python packages, read from METADATA. Matches names that equal one of
// `names` or begin with one that ends in "*". Names are compared as the package index does: case, "-", "_"
// and "." are alike (PEP 503).
std::vector<Package> python_packages(const std::filesystem::path& folder,
                                     const std::vector<std::string>& names);

// The same for a conda environment, read from conda-meta/*.json.
std::vector<Package> conda_packages(const std::filesystem::path& prefix,
                                    const std::vector<std::string>& names);

// Returns the installed Debian package whose name is `prefix` and a digit ("libtorch": libtorch1.13), with
// its upstream version: "1.13.1" for "1.13.1+dfsg-4". Reads dpkg's status file below `root`.
std::optional<Package> debian_package(std::string_view prefix, const std::filesystem::path& root = "/");

// Returns the text that a Python file assigns to a name: "11.8" for `cuda: Optional[str] = '11.8'`; nothing
// for None.
std::optional<std::string> assigned_text(const std::filesystem::path& file, std::string_view name);

// Returns "2.0.1" for "2.0.1+cu118".
std::string without_local_part(std::string_view version);

// The engines that can be recognized and how, of the table that this process uses.
using KnownEngine = vendor::Engine;
std::span<const KnownEngine> known_engines();
const KnownEngine* find_engine(std::string_view engine);  // or nullptr

// A folder and its names, read once because system folders have thousands.
struct Listing {
  explicit Listing(const std::filesystem::path& folder) : path(folder), names(names_in(folder)) {}
  std::filesystem::path path;
  std::vector<std::string> names;
};

// Returns the library of that name in the folder: "libtorch_cpu.so" itself, else the newest
// "libtorch_cpu.so.1.13". If the folder holds a file or link named after the library's SONAME, returns that
// path. Empty when there is none.
std::filesystem::path library_in(const Listing& folder, std::string_view name);

// Returns EH-G26 if `main`, the engine's library, was written by another package than the one for GPUs that
// is installed beside it. The files and digests that the packages recorded (RECORD) decide; a folder without
// them is left to the probe. `listed`: the folder of the libraries.
std::optional<Diagnosis> overwritten(const std::filesystem::path& packages_folder, const KnownEngine& engine,
                                     const Listing& listed, const std::filesystem::path& main);

struct Closure {
  std::vector<std::string> libraries;  // the given ones, then the libraries they need, each file once
  std::vector<std::string> names;      // SONAMEs and file names of all
  std::vector<binary::BinaryInfo> infos;
};

// Adds what `first` (readable libraries) needs. Searches beside the library that needs it, in the folders of
// its RUNPATH and in those of the installation, but never outside the installation: the machine's own
// libraries are left to its loader. Never adds the driver or the C and C++ runtime, of which a process can
// have only one.
Closure close_over(const Places& places, const std::vector<std::filesystem::path>& first);

// Returns the newest glibc, libstdc++ and processor that the libraries name, and their C library.
manifest::Requirements requirements_of(const std::vector<binary::BinaryInfo>& infos);

// The CUDA version for which an installed engine was compiled.
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
