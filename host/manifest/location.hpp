// Where the documents of a repository lie.
#pragma once
#include <string>

#include "base/location.hpp"

namespace enginehost::manifest {

using enginehost::is_url;

// The document at `path` below a repository (a folder or a URL); in a URL, what is not plain is written as
// %XX.
std::string below(const std::string& location, const std::string& path);

}  // namespace enginehost::manifest
