#include "cache/sharing.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache::inside {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes beat{15};
constexpr std::int64_t silent_for = 24 * 3600;

fs::path note_of(const fs::path& root) { return below(root, "locks", ".not-kept", ""); }

// The errors of flock(2) on NFS and FUSE file systems without locks. Any other error may be temporary, and
// the note is permanent.
bool means_no_locks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP ||
         error_number == ENOTSUP || error_number == EINVAL;
}

bool is_alive(const fs::path& file) {
  const auto text = read_file(file, 4096);
  calls::Status status{};
  if (!text || calls::stat(file.c_str(), &status) != 0) return false;
  const auto lines = split(*text, '\n');
  if (lines.size() >= 3 && !lines[0].empty() && lines[0] == boot_id()) {
    const auto process = parse_integer(lines[1]);
    // Another container of this machine may also count its processes from 1: then only the start time
    // distinguishes them.
    if (process && start_time_of_process(*process) == lines[2]) return true;
  }
  return status.st_mtime + silent_for > std::time(nullptr);
}

}  // namespace

std::string file_system_of(const fs::path& root) {
  calls::Status status{};
  if (calls::stat(root.c_str(), &status) != 0) return {};
  return "on " + std::to_string(status.st_dev) + " since " + boot_id();
}

Result<bool> are_locks_kept(const fs::path& root) {
  if (is_shared_file_system(root)) return false;
  return is_there(note_of(root)).map([](bool noted) { return !noted; });
}

Result<void> try_locks(const fs::path& root) {
  if (is_shared_file_system(root)) return {};
  const std::string here = file_system_of(root);
  const auto note = read_file(note_of(root), 4096);
  if (note && !here.empty() && note->find(here) != std::string::npos) return {};
  const fs::path file = root / "locks" / (".try-" + random_hex(8));
  const auto open = [&](int flags) {
    return FileDescriptor(calls::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  };
  const FileDescriptor first = open(O_CREAT | O_EXCL);
  if (!first.valid()) return fail(disk_failure(errno, file, root));
  const FileDescriptor second = open(0);
  bool without_locks = false;
  if (second.valid()) {
    if (calls::flock(first.get(), LOCK_EX | LOCK_NB) != 0)
      without_locks = means_no_locks(errno);
    else
      without_locks = calls::flock(second.get(), LOCK_EX | LOCK_NB) == 0 || means_no_locks(errno);
  }
  calls::unlink(file.c_str());
  if (!without_locks) {
    if (note) calls::unlink(note_of(root).c_str());
    return {};
  }
  return write_file(note_of(root),
                    "locks do not work here: two locks on one file were granted, or none\n" + here + "\n");
}

Heartbeat::Heartbeat(fs::path file)
    : file_(std::move(file)), thread_([this] {
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, beat, [this] { return stop_; })) calls::touch(file_);
      }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  calls::unlink(file_.c_str());
}

std::unique_ptr<Heartbeat> Heartbeat::start(const fs::path& root, std::string_view digest) {
  const std::string boot = boot_id();
  const std::string name = std::string(digest) + "." + boot.substr(0, 8) + "-" +
                           std::to_string(calls::getpid()) + "-" + random_hex(4) + ".alive";
  const fs::path file = root / "leases" / path_of(name);
  const std::string text =
      boot + "\n" + std::to_string(calls::getpid()) + "\n" + start_time_of_process(calls::getpid()) + "\n";
  if (!write_file(file, text, false)) return nullptr;
  try {
    return std::unique_ptr<Heartbeat>(new Heartbeat(file));
  } catch (const std::system_error&) {
    return nullptr;  // no thread; the file counts for a day, and while this process lives
  }
}

bool in_use(const fs::path& root, std::string_view digest) {
  bool found = false;
  std::error_code error;
  const std::string start = std::string(digest) + ".";
  for (const fs::path& file : entries_of(root / "leases", error)) {
    const std::string name = path_text(file.filename());
    if (!name.starts_with(start) || !name.ends_with(".alive")) continue;
    if (is_alive(file))
      found = true;
    else
      calls::unlink(file.c_str());
  }
  return found;
}

}  // namespace enginehost::cache::inside
