// The store's looking-after half: finding and rejecting what is damaged.

#include <cerrno>
#include <ctime>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache {

using namespace inside;

Result<std::vector<Problem>> Store::verify(std::string_view build, bool deep,
                                           const std::optional<CancelToken>& cancel) const {
  TRY_ASSIGN(const std::optional<Installed> installed, record_of(build));
  if (!installed) return fail(not_installed(build));
  std::vector<Problem> problems;
  std::set<std::string> known;
  const auto note = [&](Problem found) {
    found.diagnosis.with("build", build).with("layer", path_text(installed->layer));
    problems.push_back(std::move(found));
  };
  for (const std::string& tree : installed->trees) {
    TRY_ASSIGN(const TreeList list, load_list(installed->layer, tree));
    for (const TreeEntry& entry : list.entries) {
      if (cancel && cancel->cancelled()) return fail(diagnose("EH-P10").with("build", build));
      if (!known.insert(entry.path).second) continue;
      if (auto found = problem_of(installed->folder, entry, deep))
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
    const fs::path folder = root_ / "trees" / tree;
    const auto list = load_list(root_, tree);
    bool damaged = !list;
    if (list)
      for (const TreeEntry& entry : list->entries)
        damaged = damaged || problem_of(folder, entry, true).has_value();
    if (!damaged) continue;
    const fs::path aside = root_ / "rejected" / (tree + "." + random_hex(4));
    if (calls::rename(folder.c_str(), aside.c_str()) != 0 && errno != ENOENT)
      return fail(disk_failure(errno, folder, root_));
    TRY(sync_folder(root_ / "trees"));
    rejected.push_back(tree);
  }
  return rejected;
}

}  // namespace enginehost::cache
