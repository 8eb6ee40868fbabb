// Reads what package managers recorded about installed packages: a package's version and the file that states
// it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::installations {

struct Package {
  std::string name, version;
  std::filesystem::path file;  // the file that states the version
};

// Returns packages of a folder of Python packages, read from METADATA. Matches names that equal one of
// `names` or begin with one that ends in "*". Names are compared as the package index does: case, "-", "_"
// and "." are alike (PEP 503).
std::vector<Package> python_packages(const std::filesystem::path& folder,
                                     const std::vector<std::string_view>& names);

// The same for a conda environment, read from conda-meta/*.json.
std::vector<Package> conda_packages(const std::filesystem::path& prefix,
                                    const std::vector<std::string_view>& names);

// Returns the installed Debian package whose name is `prefix` and a digit ("libtorch": libtorch1.13), with
// its upstream version: "1.13.1" for "1.13.1+dfsg-4". Reads dpkg's status file below `root`.
std::optional<Package> debian_package(std::string_view prefix, const std::filesystem::path& root = "/");

// Returns the text that a Python file assigns to a name: "11.8" for `cuda: Optional[str] = '11.8'`; nothing
// for None.
std::optional<std::string> assigned_text(const std::filesystem::path& file, std::string_view name);

// Returns "2.0.1" for "2.0.1+cu118".
std::string without_local_part(std::string_view version);

}  // namespace enginehost::installations
