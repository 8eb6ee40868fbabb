#include "host/offline/repository_copies.hpp"

#include <filesystem>

#include "base/paths.hpp"
#include "base/sha256.hpp"

namespace enginehost::offline {
namespace {

// Returns the path below the repository in the form of its documents, or empty.
std::string path_below(const std::string& location, const std::string& repository) {
  const bool url = settings::is_url(repository);
  const std::string prefix = url ? repository : generic_text(path_of(repository));
  const std::string whole = url ? location : generic_text(path_of(location));
  const std::size_t slash = prefix.ends_with('/') ? 0 : 1;
  if (!whole.starts_with(prefix) || (slash == 1 && whole.substr(prefix.size(), 1) != "/")) return {};
  return whole.substr(prefix.size() + slash);
}

// A folder's path may identify a person and is not passed on.
std::string public_name(const settings::Repository& repository, const manifest::Index& index) {
  if (settings::is_url(repository.location)) return repository.location;
  if (!index.name.empty()) return index.name;
  return path_text(path_of(repository.location).filename());
}

}  // namespace

std::vector<RepositoryCopy> copy_repositories(const open::OpenContext& context) {
  std::vector<RepositoryCopy> copies;
  for (const settings::Repository& repository : context.settings().repositories) {
    RepositoryCopy copy;
    std::map<std::string, std::string> by_digest;
    const transfer::TransferOptions transfer = context.transfer_options();
    auto content = catalog::read_repository(
        {.settings = context.settings(),
         .store = context.store(),
         .transfer = transfer,
         .now = open::OpenContext::now(),
         .cancel = context.cancel()},
        repository, [&](const std::string& location, const std::string& bytes) {
          if (const std::string path = path_below(location, repository.location); !path.empty())
            copy.documents.insert_or_assign(path, bytes);
          by_digest.insert_or_assign(sha256_hex(bytes), bytes);
        });
    if (!content) continue;
    // Documents found by digest were not read under their path, and a URL's path is written differently.
    for (const manifest::IndexEntry& entry : content->index.manifests)
      if (const auto found = by_digest.find(entry.sha256); found != by_digest.end())
        copy.documents.insert_or_assign(entry.path, found->second);
    copy.name = public_name(repository, content->index);
    copy.content = std::move(*content);
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace enginehost::offline
