#include "host/manifest/trust/all_signatures.hpp"

#include <set>

namespace enginehost::manifest {
namespace {

constexpr std::int64_t most_roots = 100;  // the same limit as when roots are followed

std::optional<Root> root_at(RepositoryFiles& files, const std::string& path) {
  const auto bytes = files.find(path);
  if (!bytes || !*bytes) return std::nullopt;
  const auto document = parse_json(**bytes, files.name_of(path));
  if (!document) return std::nullopt;
  auto root = read_root(*document, files.name_of(path));
  return root ? std::optional(std::move(*root)) : std::nullopt;
}

void read_signatures(RepositoryFiles& files, const std::string& path, const std::set<std::string>& key_ids) {
  for (const std::string& id : key_ids) static_cast<void>(files.find(path + "." + id + ".minisig"));
}

void add_keys(const Root& root, Role role, std::set<std::string>& key_ids) {
  for (const PublicKey& key : root.keys_for(role)) key_ids.insert(key.id);
}

}  // namespace

void read_all_signatures(RepositoryFiles& files) {
  std::optional<Root> root = root_at(files, "root.json");
  if (!root) return;
  std::set<std::string> of_index;
  add_keys(*root, Role::index, of_index);
  read_signatures(files, "index.json", of_index);
  // A root is signed by its own keys and by those of the previous root.
  for (std::int64_t steps = 0; root && steps < most_roots; ++steps) {
    const std::string path = "roots/" + std::to_string(root->version) + ".json";
    std::optional<Root> before = root_at(files, "roots/" + std::to_string(root->version - 1) + ".json");
    std::set<std::string> of_root;
    add_keys(*root, Role::root, of_root);
    if (before) add_keys(*before, Role::root, of_root);
    if (steps == 0) read_signatures(files, "root.json", of_root);
    static_cast<void>(files.find(path));
    read_signatures(files, path, of_root);
    if (before && before->version >= root->version) return;
    root = std::move(before);
  }
}

}  // namespace enginehost::manifest
