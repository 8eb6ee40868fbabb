// Recognizes engines that other programs installed on this machine, and turns them into builds. Only reads
// files: runs nothing and writes nothing.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::installations {

struct Places;  // parts.hpp

enum class Layout {
  conda,            // conda-meta/ and lib/
  python_packages,  // a virtual environment, or a folder site-packages
  libraries         // a folder of libraries: the system's, or an unpacked archive
};
const char* name_of(Layout layout);  // "conda environment", "Python packages", "folder of libraries"

// One engine of an installation.
struct Runtime {
  std::string engine, version, flavor, os, arch;
  std::string root;       // laid out as the engine's published package; passed to the plugin as its folder
  std::string cxx11_abi;  // "0" or "1" for an engine with a C++ interface; else empty
  // Absolute paths: its own libraries, then those of the installation that they need.
  std::vector<std::string> libraries;
  std::vector<std::string> names;  // SONAMEs and file names under which the libraries can be requested
  manifest::Requirements requirements;
  std::vector<std::string> dependency_stamps;     // the files that were read, and those that would be loaded
  std::vector<manifest::InstallationSign> found;  // "version" with its file, "C++11 ABI", "CUDA", ...
  std::optional<Diagnosis> problem;               // why it cannot be opened on any machine
};

// A library of NVIDIA in the installation.
struct CudaLibrary {
  std::string soname, path;
};

struct Installation {
  std::filesystem::path path;
  Layout layout = Layout::libraries;
  std::vector<Runtime> runtimes;
  std::vector<CudaLibrary> cuda;  // the CUDA runtime's libraries and cuDNN's, without the driver's
  std::vector<std::string>
      dependency_stamps;  // for the whole: folders that change when packages are added or removed
};

// Identifies the installation at an absolute path: a conda environment, a virtual environment, a folder of
// Python packages, a prefix such as /usr, or a folder of libraries. Damaged files are reported in their
// Runtime::problem. Errors: EH-S30 ("path", "problem") when the path is not a readable folder, EH-S31
// ("path", "layout", "looked_for"...) when it holds neither an engine nor a CUDA library. Any thread.
Result<Installation> identify(const std::filesystem::path& path);

// Returns "path", "layout", "engines" [...] and "cuda" [...], for scripts.
Json to_json(const Installation& installation);

// Returns the CUDA and cuDNN libraries in lib/ of a conda environment, below nvidia/ of Python packages, or
// in a folder of libraries. Skips libraries that an engine renamed for its own use
// (libcudart-d0da41ae.so.11.0).
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
