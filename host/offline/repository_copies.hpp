// The configured repositories' documents, byte for byte as they were served.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "host/open/open_context.hpp"

namespace enginehost::offline {

struct RepositoryCopy {
  std::string name;                              // for people: a URL, or what a folder's index calls itself
  std::map<std::string, std::string> documents;  // path below the repository -> bytes; signatures, too
  manifest::RepositoryContent content;
};

// Repositories that cannot be read are left out: what is installed has its own record.
std::vector<RepositoryCopy> copy_repositories(const open::OpenContext& context);

}  // namespace enginehost::offline
