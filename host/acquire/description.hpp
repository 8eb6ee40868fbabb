// A build's manifest entry as it is kept with the installed build.
#pragma once
#include <string>

#include "host/manifest/catalog.hpp"

namespace enginehost::acquire {

// A manifest document that holds this build, its components and their licenses and nothing else:
// read_manifest takes it back, so that an installed build can be decided about without its repository. File
// sources become absolute; passwords in URLs are left out, since the text is kept where others may read it
// and is handed on in bundles and to registries.
std::string manifest_of(const manifest::Build& build);

// Where a file source lies: a local path, or a URL when the repository is one.
std::string resolve_file_source(const manifest::Source& source, const manifest::Build& build);

}  // namespace enginehost::acquire
