// The store's looking-after half: checking, mending, removing.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache {
namespace {

using namespace inside;

constexpr std::int64_t keep_seconds = 7 * 24 * 3600;  // of interrupted downloads and rejected trees

Problem problem(Problem::Kind kind, const fs::path& folder, const TreeEntry& entry, const char* code) {
  Problem result{kind, entry.path, diagnose(code)};
  result.diagnosis.with("file", (folder / entry.path).native());
  if (entry.kind != TreeEntry::Kind::link) result.diagnosis.with("needed_size", std::to_string(entry.size));
  return result;
}

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "folder";
  if (S_ISLNK(mode)) return "link";
  return S_ISREG(mode) ? "file" : "special file";
}

// Everything that a record of this layer refers to. Nothing when a record cannot be read: then nothing is
// swept.
std::optional<std::set<std::string>> referred(const fs::path& root) {
  std::set<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(root / "refs", error); !error && it != fs::end(it);
       it.increment(error)) {
    if (it->path().extension() != ".ref") continue;
    const auto text = read_file(it->path());
    if (!text) return {};
    const auto record = read_record(*text, it->path().native());
    if (!record) return {};
    names.insert(record->digest);
    names.insert(record->trees.begin(), record->trees.end());
  }
  if (error) return {};
  return names;
}

std::vector<fs::path> children_of(const fs::path& folder) {
  std::vector<fs::path> children;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::end(it); it.increment(error))
    children.push_back(it->path());
  return children;
}

bool is_old(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_ctime < std::time(nullptr) - keep_seconds;
}

// The caller holds the publishing lock alone. Views under `freed` are known not to be leased.
Result<std::uint64_t> sweep_layer(const fs::path& root, std::string_view freed) {
  std::uint64_t bytes = 0;
  const auto drop = [&](const fs::path& what) -> Result<void> {
    TRY_ASSIGN(const std::uint64_t gone, discard(root, what));
    bytes += gone;
    return {};
  };
  for (const fs::path& left : children_of(root / "stage")) TRY(drop(left));
  for (const char* folder : {"partial", "rejected"})
    for (const fs::path& left : children_of(root / folder))
      if (is_old(left)) TRY(drop(left));
  const auto names = referred(root);
  if (!names) return bytes;
  for (const fs::path& view : children_of(root / "views")) {
    const std::string digest = view.filename().native();
    if (names->contains(digest)) continue;
    if (digest != freed) {
      const auto unused = FileLock::try_exclusive(lease_file(root, digest), {});
      if (!unused || !*unused) continue;
    }
    TRY(drop(view));
  }
  for (const fs::path& tree : children_of(root / "trees"))
    if (!names->contains(tree.filename().native())) TRY(drop(tree));
  for (const fs::path& list : children_of(root / "lists")) {
    const std::string name = list.filename().native();
    if (names->contains(name)) continue;
    const auto of = name.starts_with("of-") ? read_file(list, 4096) : Result<std::string>(std::string());
    if (!of || !names->contains(of->substr(0, 64))) TRY(drop(list));
  }
  return bytes;
}

}  // namespace

namespace inside {

std::optional<Problem> problem_of(const fs::path& folder, const TreeEntry& entry, bool deep) {
  using Kind = Problem::Kind;
  const fs::path file = folder / entry.path;
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) {
    Problem found = problem(errno == ENOENT || errno == ENOTDIR ? Kind::missing : Kind::unreadable, folder,
                            entry, "EH-F01");
    found.diagnosis.with("os_said", std::system_category().message(errno), "lstat");
    return found;
  }
  const bool want_link = entry.kind == TreeEntry::Kind::link;
  if (want_link ? !S_ISLNK(status.st_mode) : !S_ISREG(status.st_mode)) {
    Problem found = problem(Kind::wrong_kind, folder, entry, "EH-F11");
    found.diagnosis.with("problem", kind_of(status.st_mode), "lstat")
        .with("expected_kind", want_link ? "link" : "file");
    return found;
  }
  if (want_link) {
    std::error_code error;
    const std::string target = fs::read_symlink(file, error).native();
    if (target == entry.identity) return {};
    Problem found = problem(Kind::wrong_bytes, folder, entry, "EH-F08");
    found.diagnosis.with("expected_target", entry.identity).with("actual_target", target);
    return found;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size != entry.size) {
    Problem found = size == 0           ? problem(Kind::empty, folder, entry, "EH-F02")
                    : size < entry.size ? problem(Kind::truncated, folder, entry, "EH-F04")
                                        : problem(Kind::wrong_size, folder, entry, "EH-F08");
    found.diagnosis.with("size", std::to_string(size), "lstat");
    return found;
  }
  if (!deep) return {};
  const auto actual = sha256_of_file(file);
  if (!actual) return Problem{Kind::unreadable, entry.path, actual.error()};
  if (*actual == entry.identity) return {};
  Problem found = problem(Kind::wrong_bytes, folder, entry, "EH-F08");
  found.diagnosis.with("size", std::to_string(size), "lstat")
      .with("expected", entry.identity)
      .with("found", *actual);
  return found;
}

Result<std::uint64_t> discard(const fs::path& root, const fs::path& what) {
  std::uint64_t bytes = 0;
  std::error_code error;
  const auto count = [&](const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1)
      bytes += static_cast<std::uint64_t>(status.st_size);
  };
  count(what);
  if (fs::is_directory(fs::symlink_status(what, error)))
    for (auto it = fs::recursive_directory_iterator(what, error); !error && it != fs::end(it);
         it.increment(error))
      count(it->path());
  // Gone from its place in one step; a death while removing leaves something that the next sweep finds in
  // stage/.
  const fs::path trash = root / "stage" / ("trash-" + random_hex(8));
  if (::rename(what.c_str(), trash.c_str()) != 0) {
    if (errno == ENOENT) return 0;
    return fail(disk_failure(errno, what, root));
  }
  fs::remove_all(trash, error);
  if (error) return fail(disk_failure(error.value(), trash, root));
  return bytes;
}

}  // namespace inside

const char* name_of(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::missing:
      return "missing";
    case Problem::Kind::empty:
      return "empty";
    case Problem::Kind::truncated:
      return "truncated";
    case Problem::Kind::wrong_size:
      return "wrong size";
    case Problem::Kind::wrong_bytes:
      return "wrong bytes";
    case Problem::Kind::wrong_kind:
      return "wrong kind";
    case Problem::Kind::unexpected:
      return "unexpected";
    case Problem::Kind::unreadable:
      return "unreadable";
  }
  return "unknown";
}

Result<std::vector<Problem>> Store::verify(std::string_view build, bool deep,
                                           const std::optional<CancelToken>& cancel) const {
  TRY_ASSIGN(const std::optional<Installed> installed, record_of(build));
  if (!installed) return fail(diagnose("EH-F01").with("build", build).with("problem", "not installed"));
  std::vector<Problem> problems;
  std::set<std::string> known;
  const auto note = [&](Problem found) {
    found.diagnosis.with("build", build).with("layer", installed->layer.native());
    problems.push_back(std::move(found));
  };
  for (const std::string& tree : installed->trees) {
    TRY_ASSIGN(const TreeList list, load_list(installed->layer, tree));
    for (const TreeEntry& entry : list.entries) {
      if (cancel && cancel->cancelled()) return fail(diagnose("EH-P10").with("build", build));
      if (!known.insert(entry.path).second) continue;
      if (auto found = problem_of(installed->folder, entry, deep)) note(std::move(*found));
    }
  }
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(installed->folder, error); !error && it != fs::end(it);
       it.increment(error)) {
    const std::string path = it->path().lexically_relative(installed->folder).native();
    if (fs::is_directory(it->symlink_status(error)) || known.contains(path)) continue;
    note({Problem::Kind::unexpected, path,
          diagnose("EH-F08").with("file", it->path().native()).with("problem", "nobody installed it")});
  }
  return problems;
}

Result<std::vector<std::string>> Store::reject_damaged(std::string_view build, Stage&) const {
  std::vector<std::string> rejected;
  const auto record = read_file(ref_file(root_, build));
  if (!record) return rejected;
  const auto installed = read_record(*record, ref_file(root_, build).native());
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
    if (::rename(folder.c_str(), aside.c_str()) != 0 && errno != ENOENT)
      return fail(disk_failure(errno, folder, root_));
    TRY(sync_folder(root_ / "trees"));
    rejected.push_back(tree);
  }
  return rejected;
}

Result<std::uint64_t> Store::remove(std::string_view build) const {
  TRY(prepare());
  const auto in_use = [&](const fs::path& lock) {
    return fail(diagnose("EH-F18").with("build", build).with("file", lock.native()));
  };
  const fs::path key = lock_file(root_, key_of(build));
  TRY_ASSIGN(const std::optional<FileLock> ours, FileLock::try_exclusive(key, program_));
  if (!ours) return in_use(key);
  const fs::path ref = ref_file(root_, build);
  if (::access(ref.c_str(), F_OK) != 0)
    return fail(diagnose("EH-F01")
                    .with("build", build)
                    .with("problem", "not installed")
                    .with("layer", root_.native()));
  std::optional<FileLock> unused;
  std::string digest;
  if (const auto text = read_file(ref)) {
    if (const auto record = read_record(*text, ref.native())) {
      digest = record->digest;
      const fs::path lease = lease_file(root_, digest);
      TRY_ASSIGN(unused, FileLock::try_exclusive(lease, program_));
      if (!unused) return in_use(lease);
    }
  }
  if (::unlink(ref.c_str()) != 0) return fail(disk_failure(errno, ref, root_));
  TRY(sync_folder(ref.parent_path()));
  TRY_ASSIGN(const std::optional<FileLock> alone, FileLock::try_exclusive(publishing_lock(root_), program_));
  if (!alone) return 0;  // something is being made: what is left is swept later
  return sweep_layer(root_, digest);
}

Result<std::uint64_t> Store::sweep() const {
  TRY(prepare());
  TRY_ASSIGN(const std::optional<FileLock> alone, FileLock::try_exclusive(publishing_lock(root_), program_));
  if (!alone) return 0;
  return sweep_layer(root_, {});
}

}  // namespace enginehost::cache
