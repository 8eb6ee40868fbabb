// What package managers wrote down about what they installed: the version of a package, and in which file it
// stands.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::installations {

struct Package {
  std::string name, version;
  std::filesystem::path file;  // that says so
};

// Of a folder of Python packages, those whose name is one of `names` or begins with one that ends in "*";
// names are compared as the index compares them: case, "-", "_" and "." are alike (PEP 503). From METADATA.
std::vector<Package> python_packages(const std::filesystem::path& folder,
                                     const std::vector<std::string_view>& names);

// The same of a conda environment, from conda-meta/*.json.
std::vector<Package> conda_packages(const std::filesystem::path& prefix,
                                    const std::vector<std::string_view>& names);

// The installed Debian package whose name begins with `prefix` and a digit ("libtorch": libtorch1.13), with
// its upstream version: "1.13.1" of "1.13.1+dfsg-4". From dpkg's status file below `root`.
std::optional<Package> debian_package(std::string_view prefix, const std::filesystem::path& root = "/");

// The text that a Python file assigns to a name: "11.8" of `cuda: Optional[str] = '11.8'`; nothing for None.
std::optional<std::string> assigned_text(const std::filesystem::path& file, std::string_view name);

// "2.0.1" of "2.0.1+cu118".
std::string without_local_part(std::string_view version);

}  // namespace enginehost::installations
