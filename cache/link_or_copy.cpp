// Placing files of trees under other names, and comparing views with trees.
#include <cerrno>

#include "base/copy_file.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache::inside {

Result<void> copy_file(const fs::path& from, const fs::path& to, const fs::path& root) {
  // Repair also copies from damaged trees, which may contain a named pipe; opening it must not block.
  const FileDescriptor source(calls::open(from.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  calls::Status status{};
  if (!source.valid() || calls::fstat(source.get(), &status) != 0)
    return fail(diagnose_errno("EH-F01", errno).with("file", path_text(from)));
  if (!S_ISREG(status.st_mode))
    return fail(diagnose("EH-F11").with("file", path_text(from)).with("expected_kind", "file"));
  FileDescriptor target(calls::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target.valid()) return fail(disk_failure(errno, to, root));
  if (const auto failure = copy_bytes(source.get(), target.get()))
    return failure->reading
               ? fail(diagnose_errno("EH-F01", failure->error_number).with("file", path_text(from)))
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
      return fail(diagnose_errno("EH-F01", errno).with("file", path_text(from)));
    default:
      return fail(disk_failure(errno, to, root));
  }
}

Result<ViewPlan> plan_view(const fs::path& root, const std::vector<std::string>& tree_ids) {
  ViewPlan plan;
  const auto collide = [&](const std::string& path, const ViewEntry& first, const std::string& second) {
    return fail(diagnose("EH-F20")
                    .with("path", path)
                    .with("first", first.tree, "tree")
                    .with("second", second, "tree"));
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
