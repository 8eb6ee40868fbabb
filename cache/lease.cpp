#include "cache/lease.hpp"

#include <chrono>
#include <utility>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "cache/part_lock.hpp"
#include "cache/sharing.hpp"
#include "cache/store.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache {

Lease::Lease() = default;
Lease::Lease(Lease&& other) noexcept
    : lock_(std::move(other.lock_)),
      heartbeat_(std::move(other.heartbeat_)),
      may_leave_words_(other.may_leave_words_),
      had_words_(other.had_words_),
      place_(std::exchange(other.place_, -1)) {}
Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  take_word_back();
  lock_ = std::move(other.lock_);
  heartbeat_ = std::move(other.heartbeat_);
  may_leave_words_ = other.may_leave_words_;
  had_words_ = other.had_words_;
  place_ = std::exchange(other.place_, -1);
  return *this;
}
Lease::~Lease() { take_word_back(); }

namespace {

// Each word has a place of its own, which its process locks.
constexpr int places = 12;
constexpr std::size_t room = 1024;
static_assert(Lease::longest_word < room);

calls::Offset begin_of(int place) { return static_cast<calls::Offset>(place) * calls::Offset{room}; }

// Ends before the first byte that is zero.
std::string word_at(int file, int place) {
  char bytes[room];
  const ssize_t got = calls::pread(file, bytes, room, begin_of(place));
  const std::string_view all(bytes, got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::string(all.substr(0, all.find('\0')));
}

// The whole room: the next word there may be a shorter one.
bool make_empty(int file, int place) {
  const std::string nothing(room, '\0');
  return calls::pwrite(file, nothing.data(), nothing.size(), begin_of(place)) > 0;
}

// Whose processes live or have died: the dead one's is for who comes next.
bool has_words_after(int file, int place) {
  calls::Status status{};
  if (calls::fstat(file, &status) != 0) return false;
  for (int later = place + 1; later < places && begin_of(later) < status.st_size; ++later)
    if (!word_at(file, later).empty()) return true;
  return false;
}

// Those whose places nobody locks.
std::vector<std::string> dead_words(int file, bool taken) {
  std::vector<std::string> words;
  for (int place = places; place-- > 0;) {
    if (word_at(file, place).empty() || !inside::lock_part(file, begin_of(place), room)) continue;
    // Another may have taken it before the lock was ours.
    if (std::string word = word_at(file, place); !word.empty() && (!taken || make_empty(file, place)))
      words.push_back(std::move(word));
    inside::unlock_part(file, begin_of(place), room);
  }
  return words;
}

// Whoever may read a lock file may also hold it for ever: that must keep nobody from reading. A removal that
// was under way when we came has taken the record away by then.
WaitOptions briefly() {
  WaitOptions wait;
  wait.at_most = std::chrono::seconds(2);
  return wait;
}

}  // namespace

bool Lease::leave_word(std::string_view word) {
  if (!may_leave_words_ || place_ >= 0 || word.empty() || word.size() > longest_word ||
      word.find('\0') != word.npos)
    return false;
  // A write past the limit would end the process, by a signal that is its own to handle.
  if (file_size_limit() < places * room) return false;
  const int file = lock_.descriptor();
  for (int place = 0; place < places; ++place) {
    if (!inside::lock_part(file, begin_of(place), room)) continue;
    place_ = place;
    if (calls::pwrite(file, word.data(), word.size(), begin_of(place)) == static_cast<ssize_t>(word.size()))
      return true;
    take_word_back();
    return false;
  }
  return false;
}

// The file is cut where no other word lies behind; one that is written there in this very moment goes with
// it.
void Lease::take_word_back() {
  if (place_ < 0) return;
  const int file = lock_.descriptor(), place = std::exchange(place_, -1);
  const calls::Offset begin = begin_of(place);
  if (has_words_after(file, place))
    static_cast<void>(make_empty(file, place));
  else
    static_cast<void>(calls::ftruncate(file, begin));
  inside::unlock_part(file, begin, room);
}

std::vector<std::string> Lease::words_of_the_dead() const {
  return had_words_ && may_leave_words_ ? dead_words(lock_.descriptor(), false) : std::vector<std::string>();
}

std::vector<std::string> Lease::take_words_of_the_dead() {
  if (!had_words_ || !may_leave_words_) return {};
  had_words_ = false;
  return dead_words(lock_.descriptor(), true);
}

Result<Lease> Store::lease(const Installed& installed) const {
  using namespace inside;
  const fs::path file = lease_file(installed.layer, installed.digest);
  auto lock =
      installed.read_only ? FileLock::shared_existing(file, briefly()) : FileLock::shared(file, briefly());
  Lease lease;
  if (lock) {
    lease.lock_ = std::move(*lock);
    lease.had_words_ = lease.lock_.has_content();
    if (!installed.read_only) lease.lock_.note_use();
  } else if (lock.error().code != "EH-F16" && lock.error().code != "EH-F15" &&
             lock.error().code != "EH-F18") {
    // Where no lock file can be made, nobody without more rights than ours removes anything either.
    return fail(std::move(lock.error()));
  }
  const bool kept = !installed.read_only && locks_are_kept(installed.layer);
  lease.may_leave_words_ = kept && lease.holds();
  if (!installed.read_only && !kept) lease.heartbeat_ = Heartbeat::start(installed.layer, installed.digest);
  // It may have been removed before the lock was ours.
  for (const fs::path& needed : {ref_file(installed.layer, installed.build), installed.folder}) {
    auto stamp = stamp_of(needed);
    if (!stamp)
      return fail(
          std::move(stamp.error().with("build", installed.build).with("problem", "removed meanwhile")));
  }
  return lease;
}

Result<Store::Leased> Store::find_leased(std::string_view build, std::string_view digest) const {
  using namespace inside;
  Leased leased;
  // What is looked at under the lock need not be looked at again. Of several layers it is not known whose
  // lock it would be.
  if (layers_.empty())
    if (auto lock = FileLock::shared_existing(lease_file(root_, digest), briefly()))
      leased.lease.lock_ = std::move(*lock);
  TRY_ASSIGN(auto found, find(build));
  if (!found || found->digest != digest) return fail(diagnose("EH-F01").with("build", build));
  leased.installed = std::move(*found);
  if (leased.lease.holds() && locks_are_kept(root_)) {
    leased.lease.lock_.note_use();
    leased.lease.may_leave_words_ = true;
    leased.lease.had_words_ = leased.lease.lock_.has_content();
    return leased;
  }
  TRY_ASSIGN(leased.lease, lease(leased.installed));
  return leased;
}

}  // namespace enginehost::cache
