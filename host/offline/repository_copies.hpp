// The configured repositories' documents, byte for byte as they were served.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "host/context/open_context.hpp"

namespace enginehost::offline {

struct RepositoryCopy {
  std::string name;                              // for people: a URL, or the name in a folder's index
  std::map<std::string, std::string> documents;  // path below the repository -> bytes; includes signatures
  manifest::RepositoryContent content;
};

// Skips repositories that cannot be read, because installed builds have their own records.
std::vector<RepositoryCopy> copy_repositories(const open::OpenContext& context);

}  // namespace enginehost::offline
