// Recognizes engines that other programs installed on this machine. Only reads files: runs nothing and writes
// nothing.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::installations {

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
  std::vector<std::string> dependency_stamps;  // the files that were read, and those that would be loaded
  std::vector<Evidence> found;                 // "version" with its file, "C++11 ABI", "CUDA", ...
  std::optional<Diagnosis> problem;            // why it cannot be opened on any machine
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

}  // namespace enginehost::installations
