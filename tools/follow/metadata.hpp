// METADATA of a wheel: its name, its version and what it requires (the packaging specifications "Core
// metadata" and "Dependency specifiers").
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::follow {

struct Requirement {
  std::string project;              // as the package index writes it: lower case, "-" between words
  std::vector<std::string> extras;  // of that project, written the same way
  std::string versions;             // range, as written: "==13.0.2", "<=13.1.1.3,>=13.1.0.3"; empty: any
  std::string marker;               // the condition after ";"; empty: always
};

struct Metadata {
  std::string project, version;  // `project` as above
  std::vector<Requirement> requirements;
};

// Errors: a text that says what is wrong with it: no name or no version, a requirement without a name, more
// than 10,000 requirements.
tl::expected<Metadata, std::string> read_metadata(std::string_view text);

// The values of a marker's variables; `extras` are those that somebody asked for.
struct Target {
  std::string os, arch;  // as in a manifest: "linux", "x86_64"
  std::vector<std::string> extras;
};

// Returns whether the marker holds. Returns nothing if that depends on a variable that a manifest's target
// does not have (python_version), or if the marker cannot be read.
std::optional<bool> holds(std::string_view marker, const Target& target);

// Returns whether the specifier names one version or its local variants: "==13.0.2" and "==13.0.2.*".
bool is_pin(std::string_view versions);

}  // namespace enginehost::follow
