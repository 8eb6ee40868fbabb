// Checks of a manifest against an index that was written by hand, as a client that fetches it does them.
//
// Thread safety: any thread. An index that is missing or cannot be read is reported elsewhere.
#pragma once
#include <string>

#include "tools/publish/lint.hpp"

namespace enginehost::publish {

// Compares digest and size. `name` is the path of the manifest, `text` its content.
void as_its_index_says(const Workspace& workspace, const std::string& name, const std::string& text,
                       LintFindings& findings);
// Compares the engine that the manifest's path names. A client that needs this engine refuses the manifest,
// and others do not read it.
void as_its_path_says(const Workspace& workspace, const std::string& name, const std::string& engine,
                      LintFindings& findings);

}  // namespace enginehost::publish
