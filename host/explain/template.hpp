// Fills the templates of the catalog. Entry in explain.hpp describes their syntax.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnosis.hpp"

namespace enginehost::explain {

// Adds evidence that follows from other evidence: "demangled" for each "symbol" that is a C++ name, as
// written in the source; for EH-L19 "optional_static_tls", the bytes that the loader should reserve; for
// EH-G02 the "folder" of "path". Idempotent.
void add_derived(Diagnosis& diagnosis);

// Returns the sentence, or nothing if a key of the template is not in the evidence or a condition fails.
std::optional<std::string> fill(std::string_view text, const Diagnosis& diagnosis);

// Returns the last part of a path with slashes or backslashes; the whole path if it ends with one.
std::string file_name(const std::string& path);

}  // namespace enginehost::explain
