// The origin and the signers of an installed build, for people and documents.
#pragma once
#include <string>

#include "base/json.hpp"
#include "cache/installed.hpp"

namespace enginehost::acquire {

// Returns "from https://engines.example/r, signed by 67F243FC3C79E031", "from a bundle, unsigned", "origin
// unknown". `own_repository`: of EngineHost, which is trusted by its place; or empty.
std::string describe_origin(const cache::Installed& installed, const std::string& own_repository);

// Returns the same as members: "repository", "signed_by", "files_by", "only_for"; null for what is unknown.
Json origin_of(const cache::Installed& installed);

}  // namespace enginehost::acquire
