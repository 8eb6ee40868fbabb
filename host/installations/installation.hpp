// Engines that other programs installed on this machine, recognized by reading files: nothing is run, nothing
// is written.
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
  std::string root;       // laid out as the engine's published package is; what a plugin is told
  std::string cxx11_abi;  // "0" or "1" of an engine whose interface is C++; else empty
  // Absolute: its own libraries, leaves nowhere in particular, and those of the installation that they need.
  std::vector<std::string> libraries;
  std::vector<std::string> names;  // SONAMEs and file names that the libraries answer to
  manifest::Requirements requirements;
  std::vector<std::string> dependency_stamps;  // what was read, and what would be loaded
  std::vector<Evidence> found;                 // "version" with its file, "C++11 ABI", "CUDA", ...
  std::optional<Diagnosis> problem;            // why it cannot be opened, whatever the machine
};

// A library of NVIDIA's that the installation holds.
struct CudaLibrary {
  std::string soname, path;
};

struct Installation {
  std::filesystem::path path;
  Layout layout = Layout::libraries;
  std::vector<Runtime> runtimes;
  std::vector<CudaLibrary> cuda;  // CUDA's runtime libraries and cuDNN's; not the driver's
  std::vector<std::string>
      dependency_stamps;  // of the whole: folders whose change means that packages came or went
};

// What lies at that absolute path: a conda environment, a virtual environment, a folder of Python packages, a
// prefix such as /usr, a folder of libraries. Files that are damaged are told in their Runtime::problem.
// EH-S30
// ("path", "problem") when it is no folder that can be read, EH-S31 ("path", "layout", "looked_for"...) when
// neither an engine nor a library of CUDA is in it. Any thread.
Result<Installation> identify(const std::filesystem::path& path);

// "path", "layout", "engines" [...], "cuda" [...], for scripts.
Json to_json(const Installation& installation);

}  // namespace enginehost::installations
