// engine-manifest lint: finds what would fail on users' machines.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/publish/workspace.hpp"

namespace enginehost::publish {

struct LintFindings {
  std::vector<Diagnosis> errors;    // EH-M16 ("document", "member", "problem", "remedy"), EH-M01 to EH-M04
  std::vector<Diagnosis> warnings;  // EH-M16 too
};

// Reads every manifest as a user's machine would, but treats unknown fields as errors. Then checks:
//  - every archive has a digest and a size;
//  - sources can be resolved: https, existing files with the right digest, or wheels that are named as the
//    package index names them and have the component's version and the build's system;
//  - every license that needs acceptance has a text;
//  - the plugin is one, and is built for the build's system;
//  - every needed library is found in the build's components (reach.hpp) or named in requires.libraries,
//    except those that only an optional library needs;
//  - requirements are not below what the files say;
//  - lazy libraries are present in the search folders;
//  - the plugin's descriptor names the manifest's engine and no other capabilities than the build; a build
//  has a
//    license (warnings);
//  - no build id occurs in two manifests;
//  - the root was not edited since it was signed, and has the repository's name.
// The engine's files of a build whose plugin was not compiled are checked in the same way. An artifact that
// was never examined is a warning. With `now` the root's date is checked too: a warning after half of its
// time, later an error.
LintFindings lint(const Workspace& workspace, std::optional<std::int64_t> now = std::nullopt);

// Checks of a manifest against an index that was written by hand, as a client that fetches it does them. An
// index that is missing or cannot be read is reported elsewhere. Any thread.

// Compares digest and size. `name` is the path of the manifest, `text` its content.
void as_its_index_says(const Workspace& workspace, const std::string& name, const std::string& text,
                       LintFindings& findings);
// Compares the vendor facts that the index names, and reads them as a client does.
void vendor_facts_as_the_index_says(const Workspace& workspace, LintFindings& findings);
// Compares the engine that the manifest's path names. A client that needs this engine refuses the manifest,
// and others do not read it.
void as_its_path_says(const Workspace& workspace, const std::string& name, const std::string& engine,
                      LintFindings& findings);

}  // namespace enginehost::publish
