// Checks that manifests and indexes share.
#pragma once
#include <optional>
#include <string>

#include "base/diagnosis.hpp"
#include "base/json.hpp"

namespace enginehost::manifest {

// Error: EH-M04 ("found", "supported") when the document's format is newer than this reader.
std::optional<Diagnosis> check_format(const Json& document, const std::string& name);

// Error: EH-M03 ("member") when the document marks a field as critical that this reader does not know.
std::optional<Diagnosis> check_critical(const Json& document, const std::string& name);

}  // namespace enginehost::manifest
