// What a manifest and an index have in common.
#pragma once
#include <optional>
#include <string>

#include "base/diagnosis.hpp"
#include "base/json.hpp"

namespace enginehost::manifest {

// EH-M04 ("found", "supported") when the document is written in a later format.
std::optional<Diagnosis> check_format(const Json& document, const std::string& name);

// EH-M03 ("member") when the document demands that its reader understand a field that this one does
// not.
std::optional<Diagnosis> check_critical(const Json& document, const std::string& name);

}  // namespace enginehost::manifest
