#include "cache/store_parts.hpp"

#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost::cache::inside {
namespace {

bool same_file(const fs::path& left, const fs::path& right) {
  calls::Status first{}, second{};
  return calls::lstat(left.c_str(), &first) == 0 && calls::lstat(right.c_str(), &second) == 0 &&
         S_ISREG(first.st_mode) && first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

}  // namespace

Result<bool> rename_into_place(const fs::path& from, const fs::path& to, const fs::path& root) {
  // rename() onto a non-empty folder fails, but not always with ENOTEMPTY or EEXIST: SFTP has only "failure",
  // which sshfs turns into EPERM.
  bool moved = true;
  if (calls::rename(from.c_str(), to.c_str()) != 0) {
    const int why = errno;
    calls::Status there{};
    const bool was_first = why == ENOTEMPTY || why == EEXIST ||
                           (calls::lstat(to.c_str(), &there) == 0 && S_ISDIR(there.st_mode));
    if (!was_first) return fail(disk_failure(why, to, root));
    moved = false;
  }
  TRY(sync_folder(to.parent_path()));
  return moved;
}

Result<void> build_view(const fs::path& root, const ViewPlan& plan, const fs::path& folder) {
  std::map<fs::path, bool> folders{{folder, true}};
  for (const auto& [path, planned] : plan) {
    const fs::path target = folder / path_of(path);
    if (folders.emplace(target.parent_path(), true).second) TRY(make_folders(target.parent_path()));
    TRY(place(planned.entry, root / "trees" / planned.tree / path_of(path), target, root));
  }
  for (const auto& [made, unused] : folders) {
    for (fs::path at = made; is_below(at, folder); at = at.parent_path()) TRY(sync_folder(at));
  }
  return {};
}

Result<void> repair_files(const fs::path& root, const ViewPlan& plan, const fs::path& view,
                          const fs::path& scratch) {
  for (const auto& [path, planned] : plan) {
    const fs::path target = view / path_of(path), source = root / "trees" / planned.tree / path_of(path);
    if (same_file(target, source) || !problem_of(view, planned.entry, true)) continue;
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(target, error))) TRY(discard(root, target));
    TRY(make_folders(target.parent_path()));
    const fs::path fresh = scratch / random_hex(8);
    TRY(place(planned.entry, source, fresh, root));
    if (calls::rename(fresh.c_str(), target.c_str()) != 0) return fail(disk_failure(errno, target, root));
    TRY(sync_folder(target.parent_path()));
  }
  return {};
}

Result<void> repair_view(const fs::path& root, const ViewPlan& plan, const fs::path& view,
                         const fs::path& scratch) {
  TRY(repair_files(root, plan, view, scratch));
  // A loader must not find files that nobody installed.
  std::error_code error;
  std::vector<fs::path> unlisted;
  for (auto it = fs::recursive_directory_iterator(view, error); !error && it != fs::end(it);
       it.increment(error))
    if (!fs::is_directory(it->symlink_status(error)) &&
        !plan.contains(generic_text(it->path().lexically_relative(view))))
      unlisted.push_back(it->path());
  for (const fs::path& unlisted_file : unlisted) TRY(discard(root, unlisted_file));
  return {};
}

}  // namespace enginehost::cache::inside
