// Repositories with one build, made of files of this machine.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace enginehost::bench {

struct Part {
  std::string name;
  std::filesystem::path file;  // its digest is taken from here
  std::string archive;         // "none": the file itself under its own name
  std::string url;             // empty: the file is the source
  bool is_plugin = false;
  std::vector<std::string> select = {};  // of the archive; empty: all
  std::string project = {};              // its project on a package index, which is then the source
};

// A manifest of one build of `engine`, whose first part marked as plugin is its plugin (or the first
// library).
std::optional<Json> manifest_of(const std::string& engine, const std::vector<Part>& parts);

// Writes index.json and the manifest below `folder`; false when it cannot be written.
bool write_repository(const std::filesystem::path& folder, const std::string& engine, const Json& manifest);

}  // namespace enginehost::bench
