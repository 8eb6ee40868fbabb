#include "cache/lease.hpp"

#include <chrono>
#include <utility>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "cache/sharing.hpp"
#include "cache/store.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {

Lease::Lease() = default;
Lease::Lease(Lease&& other) noexcept
    : lock_(std::move(other.lock_)),
      heartbeat_(std::move(other.heartbeat_)),
      may_write_markers_(other.may_write_markers_),
      place_(std::exchange(other.place_, -1)) {}
Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  erase_marker();
  lock_ = std::move(other.lock_);
  heartbeat_ = std::move(other.heartbeat_);
  may_write_markers_ = other.may_write_markers_;
  place_ = std::exchange(other.place_, -1);
  return *this;
}
Lease::~Lease() { erase_marker(); }

namespace {

// Each marker has its own slot, which its process locks. Erasing a marker zeroes its first byte only, because
// overwriting is cheaper than growing and truncating a file.
constexpr int places = 12;
constexpr std::size_t room = 1024;
static_assert(Lease::longest_marker < room);

calls::Offset begin_of(int place) { return static_cast<calls::Offset>(place) * calls::Offset{room}; }

// Returns the text before the first zero byte.
std::string word_at(int file, int place) {
  char bytes[room];
  const ssize_t got = calls::pread(file, bytes, room, begin_of(place));
  const std::string_view all(bytes, got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::string(all.substr(0, all.find('\0')));
}

bool has_marker(int file, int place) {
  char first = '\0';
  return calls::pread(file, &first, 1, begin_of(place)) == 1 && first != '\0';
}

// A write beyond the limit would end the process by SIGXFSZ.
bool may_write(int place) { return file_size_limit() >= static_cast<std::uint64_t>(begin_of(place + 1)); }

bool make_empty(int file, int place) {
  return may_write(place) && calls::pwrite(file, "", 1, begin_of(place)) == 1;
}

// Returns the markers whose slots nobody locks, in the file's first `size` bytes; `own`: this process's slot.
std::vector<std::string> read_stale_markers(int file, std::int64_t size, int own, bool taken) {
  std::vector<std::string> markers;
  for (int place = places; place-- > 0;) {
    if (begin_of(place) >= size || place == own || !has_marker(file, place)) continue;
    if (!calls::lock_part(file, begin_of(place), room)) continue;
    // Another process may have taken it before we had the lock.
    if (std::string marker = word_at(file, place); !marker.empty() && (!taken || make_empty(file, place)))
      markers.push_back(std::move(marker));
    calls::unlock_part(file, begin_of(place), room);
  }
  return markers;
}

// A process that may read a lock file may hold it forever, which must not block readers. A removal that is
// under way has already removed the record by then.
WaitOptions briefly() {
  WaitOptions wait;
  wait.at_most = std::chrono::seconds(2);
  return wait;
}

}  // namespace

bool Lease::write_marker(std::string_view marker) {
  if (!may_write_markers_ || place_ >= 0 || marker.empty() || marker.size() > longest_marker ||
      marker.find('\0') != marker.npos)
    return false;
  if (!may_write(places - 1)) return false;
  // One write, because an earlier marker in the slot may be longer.
  char bytes[room];
  const std::size_t size = marker.copy(bytes, longest_marker);
  bytes[size] = '\0';
  const int file = lock_.descriptor();
  for (int place = 0; place < places; ++place) {
    if (!calls::lock_part(file, begin_of(place), room)) continue;
    place_ = place;
    if (calls::pwrite(file, bytes, size + 1, begin_of(place)) == static_cast<ssize_t>(size + 1)) return true;
    erase_marker();
    return false;
  }
  return false;
}

// If writing fails, the file is truncated; markers behind the slot are lost then.
void Lease::erase_marker() {
  if (place_ < 0) return;
  const int file = lock_.descriptor(), place = std::exchange(place_, -1);
  const calls::Offset begin = begin_of(place);
  if (!make_empty(file, place)) static_cast<void>(calls::ftruncate(file, begin));
  calls::unlock_part(file, begin, room);
}

std::vector<std::string> Lease::stale_markers() const {
  if (!may_write_markers_) return {};
  return read_stale_markers(lock_.descriptor(), lock_.size_when_taken(), place_, false);
}

std::vector<std::string> Lease::take_stale_markers() {
  if (!may_write_markers_) return {};
  return read_stale_markers(lock_.descriptor(), lock_.size_when_taken(), place_, true);
}

Result<Lease> Store::lease(const Installed& installed) const {
  using namespace inside;
  const fs::path file = lease_file(installed.layer, installed.digest);
  auto lock = FileLock::shared(file, briefly(), installed.read_only);
  Lease lease;
  if (lock) {
    lease.lock_ = std::move(*lock);
    if (!installed.read_only) lease.lock_.note_use();
  } else if (lock.error().code != Code::folder_not_writable && lock.error().code != Code::disk_full &&
             lock.error().code != Code::lock_held) {
    // If no lock file can be created, no process with our rights or less can remove the build either.
    return fail(std::move(lock.error()));
  }
  const bool kept = !installed.read_only && locks_are_kept(installed.layer);
  lease.may_write_markers_ = kept && lease.holds();
  if (!installed.read_only && !kept) lease.heartbeat_ = Heartbeat::start(installed.layer, installed.digest);
  // The build may have been removed before we had the lock.
  for (const fs::path& needed : {ref_file(installed.layer, record_name(installed)), installed.folder}) {
    auto stamp = stamp_of(needed);
    if (stamp) continue;
    const std::string_view why = stamp.error().value(Key::errno_);
    if (why == "ENOENT" || why == "ENOTDIR") stamp.error().with(Key::problem, "removed meanwhile");
    return fail(std::move(stamp.error().with(Key::build, installed.build)));
  }
  return lease;
}

Result<Lease> Store::lease_as_recorded(Installed& record) const {
  record.folder = inside::view_folder(root_, record.digest);
  record.layer =
      std::filesystem::path(root_);  // a copy to move from; assignment would run more code at process start
  auto lock = FileLock::shared_at_once(text_below(root_, {"leases", record.digest}).append(".lk"));
  // A process that removes a build's files holds the lock exclusively, so what exists now stays.
  if (!lock || !inside::are_as_stamped(record))
    return fail(diagnose(Code::file_not_readable).with(Key::build, record.build));
  lock->note_use();
  Lease lease;
  lease.lock_ = std::move(*lock);
  lease.may_write_markers_ = true;
  return lease;
}

bool Store::keeps_locks() const { return inside::locks_are_kept(root_); }

}  // namespace enginehost::cache
