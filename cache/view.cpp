// Views: placing files of trees under other names, and comparing them with the trees.
#include "cache/store_inside.hpp"

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
    const bool right = same_file(target, source) || !problem_of(view, planned.entry, true);
    if (right && !mode_problem_of(view, planned.entry)) continue;
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
  const auto is_planned = [&](const std::string& path) { return plan.contains(path); };
  for (const fs::path& file : unlisted_files(view, is_planned)) TRY(discard(root, file));
  return {};
}

Result<void> copy_file(const fs::path& from, const fs::path& to, const fs::path& root) {
  // Repair also copies from damaged trees, which may contain a named pipe; opening it must not block.
  const FileDescriptor source(calls::open(from.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  calls::Status status{};
  if (!source.valid() || calls::fstat(source.get(), &status) != 0)
    return fail(diagnose_errno(Code::file_not_readable, errno).with(Key::file, path_text(from)));
  if (!S_ISREG(status.st_mode))
    return fail(diagnose(Code::path_leads_to_no_file)
                    .with(Key::file, path_text(from))
                    .with(Key::expected_kind, "file"));
  FileDescriptor target(calls::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target.valid()) return fail(disk_failure(errno, to, root));
  if (const auto failure = copy_bytes(source.get(), target.get()))
    return failure->reading ? fail(diagnose_errno(Code::file_not_readable, failure->error_number)
                                       .with(Key::file, path_text(from)))
                            : fail(disk_failure(failure->error_number, to, root));
  if (calls::fchmod(target.get(), status.st_mode & 0555) != 0 || calls::fsync(target.get()) != 0)
    return fail(disk_failure(errno, to, root));
  if (calls::close(target.release()) != 0) return fail(disk_failure(errno, to, root));
  return {};
}

Result<void> place(const TreeEntry& entry, const fs::path& from, const fs::path& to, const fs::path& root) {
  if (entry.kind == TreeEntry::Kind::link) {
    if (calls::symlink(entry.identity.c_str(), to.c_str()) != 0) return fail(disk_failure(errno, to, root));
    return {};
  }
  if (calls::link(from.c_str(), to.c_str()) == 0) return {};
  switch (errno) {
    case EXDEV:
    case EPERM:
    case EMLINK:
    case EOPNOTSUPP:
      return copy_file(from, to, root);
    case ENOENT:
      return fail(diagnose_errno(Code::file_not_readable, errno).with(Key::file, path_text(from)));
    default:
      return fail(disk_failure(errno, to, root));
  }
}

Result<ViewPlan> plan_view(const fs::path& root, const std::vector<std::string>& tree_ids) {
  ViewPlan plan;
  const auto collide = [&](const std::string& path, const ViewEntry& first, const std::string& second) {
    return fail(diagnose(Code::components_collide)
                    .with(Key::path, path)
                    .with(Key::first, first.tree, "tree")
                    .with(Key::second, second, "tree"));
  };
  for (const std::string& tree : tree_ids) {
    TRY_ASSIGN(const TreeList list, load_list(root, tree));
    for (const TreeEntry& entry : list.entries) {
      const auto [found, fresh] = plan.emplace(entry.path, ViewEntry{entry, tree});
      const bool both_files =
          (entry.kind == TreeEntry::Kind::link) == (found->second.entry.kind == TreeEntry::Kind::link);
      if (!fresh && (!both_files || entry.identity != found->second.entry.identity))
        return collide(entry.path, found->second, tree);
    }
  }
  for (const auto& [path, planned] : plan)
    for (fs::path parent = path_of(path).parent_path(); !parent.empty(); parent = parent.parent_path())
      if (const auto found = plan.find(generic_text(parent)); found != plan.end())
        return collide(generic_text(parent), found->second, planned.tree);
  return plan;
}

}  // namespace enginehost::cache::inside
