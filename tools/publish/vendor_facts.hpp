// The document of vendor facts of a workspace: vendor-facts.json (host/vendor_facts).
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::publish {

struct WorkspaceFacts {
  std::string bytes;
  vendor::Facts facts;
};

// Reads the workspace's document; nothing if there is none. Errors: EH-M26, because every reader would refuse
// it, and those of reading the file.
Result<std::optional<WorkspaceFacts>> workspace_facts(const std::filesystem::path& folder);

// Writes vendor-facts/SHA256.json and returns the index's member "vendor_facts"; null without a document.
// Error: EH-M27 if other facts were in the index of `before` with the same serial or a higher one.
Result<Json> prepare_vendor_facts(const std::filesystem::path& folder, const std::optional<Json>& before);

}  // namespace enginehost::publish
