// engine-manifest lint: what would fail on the machines of those who use the repository.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "host/publish/workspace.hpp"

namespace enginehost::publish {

struct LintFindings {
  std::vector<Diagnosis> errors;    // EH-M16 ("document", "member", "problem", "remedy"), EH-M01 to EH-M04
  std::vector<Diagnosis> warnings;  // EH-M16 too
};

// Reads every manifest as a user's machine would, and more strictly: unknown fields are errors. Then: a
// digest and a size for every archive; sources whose form can be resolved (https, files that are there with
// the right digest, wheels named as the package index names them, of the component's version and the build's
// system); a text for every license that wants acceptance; a plugin that is one and is of the build's system;
// every needed library inside the build's components, where it is found (reach.hpp), or named in
// requires.libraries, but for those that only an optional library needs; requirements not below what the
// files say; lazy libraries present in the search folders; no build's id in two manifests; no root that was
// edited since it was signed, or is one of another name. The engine's files of a build whose plugin was not
// compiled are held to the same. What was never looked into is a warning.
// With `now` the root's date is looked at as well: a warning from half of its time on, then an error.
LintFindings lint(const Workspace& workspace, std::optional<std::int64_t> now = std::nullopt);

}  // namespace enginehost::publish
