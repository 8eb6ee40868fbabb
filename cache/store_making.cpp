// The publishing functions of the store: stages, views, records.

#include <array>
#include <cerrno>
#include <ctime>
#include <map>
#include <utility>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "cache/record_names.hpp"
#include "cache/sharing.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {
namespace {

using namespace inside;

// Downloading twice is better than waiting for a machine that may have died.
constexpr std::chrono::seconds longest_wait_without_locks{30};

// Returns whether a loader would map the file: ELF, PE, Mach-O (also big-endian and universal).
bool is_loadable(const fs::path& file) {
  const FileDescriptor opened(calls::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  std::array<char, 4> magic{};
  if (!opened.valid() || calls::read(opened.get(), magic.data(), magic.size()) != 4) return false;
  const std::string_view start(magic.data(), magic.size());
  static constexpr std::array<std::string_view, 6> known{
      "\x7f"
      "ELF",
      "\xcf\xfa\xed\xfe",
      "\xce\xfa\xed\xfe",
      "\xfe\xed\xfa\xcf",
      "\xfe\xed\xfa\xce",
      "\xca\xfe\xba\xbe"};
  for (const std::string_view candidate : known)
    if (start == candidate) return true;
  return start.starts_with("MZ");
}

// Users without write access to a layer hold builds through this file, so it must exist before they come.
Result<void> make_lease_file(const fs::path& root, std::string_view digest) {
  const fs::path file = lease_file(root, digest);
  const FileDescriptor made(calls::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!made.valid()) return fail(disk_failure(errno, file, root));
  static_cast<void>(calls::touch(made.get()));
  return {};
}

}  // namespace

Stage::Stage(Stage&& other) noexcept
    : lock_(std::move(other.lock_)),
      publishing_(std::move(other.publishing_)),
      folder_(std::exchange(other.folder_, {})) {}

Stage& Stage::operator=(Stage&& other) noexcept {
  std::swap(lock_, other.lock_);
  std::swap(publishing_, other.publishing_);
  std::swap(folder_, other.folder_);
  return *this;
}

// The next owner of the key removes what is left.
Stage::~Stage() {
  std::error_code ignored;
  if (!folder_.empty()) remove_tree(folder_, ignored);
}

// Without locks, several processes may use one key at once, each in its own folder; they publish the same. A
// dead owner's folder is removed by age.
Result<Stage> Store::stage(std::string_view key, const WaitOptions& wait) const {
  TRY(prepare());
  TRY_ASSIGN(const bool kept, are_locks_kept(root_));
  WaitOptions waiting = wait;
  if (!kept && !waiting.at_most) waiting.at_most = longest_wait_without_locks;
  const auto or_without = [&](Result<FileLock> lock) -> Result<FileLock> {
    if (!lock && !kept && lock.error().code == Code::lock_held) return FileLock();
    return lock;
  };
  TRY_ASSIGN(FileLock lock, or_without(FileLock::exclusive(lock_file(root_, key), program_, waiting)));
  TRY_ASSIGN(FileLock publishing, or_without(FileLock::shared(publishing_lock(root_), waiting)));
  const fs::path parent = root_ / "stage" / file_name_for(key);
  // We have the lock, so everything here belongs to a dead process.
  std::error_code error;
  if (kept) remove_tree(parent, error);
  TRY(make_folders(parent));
  TRY_ASSIGN(fs::path folder, make_private_folder(parent, "s"));
  return Stage(std::move(lock), std::move(publishing), std::move(folder));
}

fs::path Store::partial(std::string_view sha256, const Stage& stage) const {
  return locks_are_kept(root_) ? partial(sha256) : stage.folder() / "partial";
}

Result<void> Store::require_space(std::uint64_t bytes, std::uint64_t largest) const {
  if (const std::uint64_t limit = file_size_limit(); limit < largest)
    return fail(diagnose(Code::file_size_limit)
                    .with(Key::folder, path_text(root_))
                    .with(Key::needed, std::to_string(largest))
                    .with(Key::limit, std::to_string(limit), "RLIMIT_FSIZE"));
  const auto space = space_below(root_);
  if (!space || (space->free >= bytes && !space->no_more_files)) return {};
  Diagnosis diagnosis = diagnose(Code::disk_full);
  diagnosis.with(Key::folder, path_text(root_))
      .with(Key::needed, std::to_string(bytes))
      .with(Key::free, std::to_string(space->free), "statvfs");
  if (space->no_more_files) diagnosis.with(Key::free_inodes, "0", "statvfs");
  return fail(std::move(diagnosis));
}

Result<fs::path> Store::make_view(const std::vector<std::string>& tree_ids, Stage& stage) const {
  TRY_ASSIGN(const ViewPlan plan, plan_view(root_, tree_ids));
  const fs::path view = root_ / "views" / digest_of_trees(tree_ids);
  std::error_code error;
  TRY(clear_for_folder(root_, view));
  if (!fs::is_directory(fs::symlink_status(view, error))) {
    TRY_ASSIGN(const fs::path scratch, make_private_folder(stage.folder(), "view"));
    if (calls::chmod(scratch.c_str(), 0755) != 0) return fail(disk_failure(errno, scratch, root_));
    TRY(build_view(root_, plan, scratch));
    TRY(rename_into_place(scratch, view, root_).map([](bool) {}));
  }
  // Also for a new one: another process may have been first, and the view may be damaged since.
  TRY(repair_view(root_, plan, view, stage.folder()));
  return view;
}

Result<Installed> Store::write_ref(Installed installed) const {
  installed.digest = digest_of_trees(installed.trees);
  installed.layer = root_;
  installed.folder = root_ / "views" / installed.digest;
  installed.read_only = false;
  installed.installed_at = static_cast<std::int64_t>(std::time(nullptr));
  installed.size = 0;
  installed.files.clear();
  TRY_ASSIGN(const ViewPlan plan, plan_view(root_, installed.trees));
  for (const auto& [path, planned] : plan) {
    if (planned.entry.kind == TreeEntry::Kind::link) continue;
    // A stamp replaces hashing, so a file that cannot be the listed one gets none.
    if (auto problem = problem_of(installed.folder, planned.entry, false))
      return fail(std::move(problem->diagnosis));
    installed.size += planned.entry.size;
    if (!is_loadable(installed.folder / path_of(path))) continue;
    TRY_ASSIGN(const FileStamp stamp, stamp_of(installed.folder / path_of(path)));
    installed.files.push_back({path, stamp.size, stamp.inode, stamp.modified_ns});
  }
  TRY(make_lease_file(root_, installed.digest));
  const std::string id = installed.published_id();
  const auto name_among = [&](const std::vector<Installed>& all) {
    RecordNames names(all);
    auto known = names.known(installed.engine, id);
    std::string name = known ? std::move(*known) : names.take(installed.build, installed.engine, id);
    installed.id = name == id ? std::string() : id;
    return name;
  };
  installed.build = name_among(Store::open(root_).list());
  const fs::path file = ref_file(root_, installed.build);
  TRY(clear_for_file(root_, file));
  TRY(write_file(file, write_record(installed)));
  recorded_again(root_, installed.trees);
  if (!layers_.empty()) {
    installed.record = std::move(installed.build);
    installed.build = name_among(list());
  }
  return installed;
}

}  // namespace enginehost::cache
