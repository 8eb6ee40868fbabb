// The folders of an installation, depending on its layout.
#pragma once
#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "host/installations/installation.hpp"

namespace enginehost::installations {

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

}  // namespace enginehost::installations
