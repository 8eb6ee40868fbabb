// The care functions of the store: finding and quarantining damaged trees.

#include <cerrno>
#include <ctime>
#include <random>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache {

using namespace inside;

std::set<std::string> inside::files_with_other_stamps(const fs::path& view, const Installed& installed) {
  std::set<std::string> paths;
  for (const LoadableFile& file : installed.files) {
    const auto stamp = stamp_of(view / path_of(file.path));
    if (!stamp || stamp->size != file.size || stamp->inode != file.inode ||
        stamp->modified_ns != file.modified_ns)
      paths.insert(file.path);
  }
  return paths;
}

Result<std::vector<Problem>> Store::verify(std::string_view build, bool deep,
                                           const std::optional<CancelToken>& cancel) const {
  TRY_ASSIGN(const std::optional<Installed> installed, record_of(build));
  if (!installed) return fail(not_installed(build));
  std::vector<Problem> problems;
  std::set<std::string> known;
  const auto note = [&](Problem found) {
    found.diagnosis.with("build", build).with("layer", path_text(installed->layer));
    if (installed->read_only) found.diagnosis.with("read_only_layer", path_text(installed->layer));
    problems.push_back(std::move(found));
  };
  const std::set<std::string> restamped = files_with_other_stamps(installed->folder, *installed);
  for (const std::string& tree : installed->trees) {
    auto list = load_list(installed->layer, tree);
    if (!list) {
      note({list.error().code == "EH-F01" ? Problem::Kind::missing : Problem::Kind::wrong_bytes,
            "lists/" + tree, std::move(list).error()});
      continue;
    }
    for (const TreeEntry& entry : list->entries) {
      if (cancel && cancel->canceled()) return fail(diagnose("EH-P10").with("build", build));
      if (!known.insert(entry.path).second) continue;
      if (auto found = problem_of(installed->folder, entry, deep || restamped.contains(entry.path)))
        note(std::move(*found));
      else if (auto mode = mode_problem_of(installed->folder, entry))
        note(std::move(*mode));
    }
  }
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(installed->folder, error); !error && it != fs::end(it);
       it.increment(error)) {
    const std::string path = generic_text(it->path().lexically_relative(installed->folder));
    if (fs::is_directory(it->symlink_status(error)) || known.contains(path)) continue;
    note({Problem::Kind::unexpected, path,
          diagnose("EH-F08").with("file", path_text(it->path())).with("problem", "nobody installed it")});
  }
  return problems;
}

Result<std::optional<Diagnosis>> Store::check_bytes(const Installed& installed, std::uint64_t most_bytes,
                                                    const std::optional<CancelToken>& cancel) const {
  std::vector<TreeEntry> entries;
  for (const std::string& tree : installed.trees) {
    TRY_ASSIGN(TreeList list, load_list(installed.layer, tree));
    for (TreeEntry& entry : list.entries)
      if (entry.kind != TreeEntry::Kind::link) entries.push_back(std::move(entry));
  }
  std::shuffle(entries.begin(), entries.end(), std::mt19937_64(std::random_device()()));
  std::uint64_t hashed = 0;
  for (const TreeEntry& entry : entries) {
    if (hashed >= most_bytes) break;
    if (cancel && cancel->canceled()) return fail(diagnose("EH-P10").with("build", installed.build));
    if (auto found = problem_of(installed.folder, entry, true))
      return std::optional(std::move(
          found->diagnosis.with("build", installed.build).with("layer", path_text(installed.layer))));
    hashed += entry.size;
  }
  return std::optional<Diagnosis>();
}

Result<std::vector<std::string>> Store::reject_damaged(std::string_view build, Stage&) const {
  std::vector<std::string> rejected;
  const auto record = read_file(ref_file(root_, build));
  if (!record) return rejected;
  const auto installed = read_record(*record, path_text(ref_file(root_, build)));
  if (!installed) {
    TRY(discard(root_, ref_file(root_, build)));
    return rejected;
  }
  for (const std::string& tree : installed->trees) {
    TRY_ASSIGN(const auto damage, reject_if_damaged(tree));
    if (damage) rejected.push_back(tree);
  }
  return rejected;
}

}  // namespace enginehost::cache
