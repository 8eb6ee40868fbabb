// Where the parts of an installation lie, by how it is laid out.
#pragma once
#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "host/installations/installation.hpp"

namespace enginehost::installations {

struct Places {
  Layout layout = Layout::libraries;
  std::filesystem::path prefix;                  // of a conda environment; else the folder itself
  std::vector<std::filesystem::path> packages;   // folders of Python packages
  std::vector<std::filesystem::path> libraries;  // folders of libraries
  bool is_system = false;                        // where the machine's loader looks by itself
};

// EH-S30 ("path", "problem") when it is no folder that can be listed.
Result<Places> places_of(const std::filesystem::path& path);

// Names in a folder, sorted; none where it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace enginehost::installations
