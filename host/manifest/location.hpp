// Builds the locations of a repository's documents.
#pragma once
#include <string>

#include "base/location.hpp"

namespace enginehost::manifest {

using enginehost::is_url;

// Returns the location of `path` below a repository (a folder or a URL). In a URL, characters that are not
// plain become %XX.
std::string below(const std::string& location, const std::string& path);

}  // namespace enginehost::manifest
