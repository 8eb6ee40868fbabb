#include "cache/lock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/record.hpp"
#include "base/text.hpp"
#include "cache/sharing.hpp"

namespace enginehost::cache {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr milliseconds longest_sleep{50};
constexpr milliseconds report_every{250};

// A lock file without write permission can still be locked, because flock needs no access mode.
Result<FileDescriptor> open_lock(const std::filesystem::path& file, bool must_exist) {
  const int make = must_exist ? 0 : O_CREAT;
  FileDescriptor opened(calls::open(file.c_str(), O_RDWR | make | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!opened.valid()) {
    const int why = errno;
    opened = FileDescriptor(calls::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (!opened.valid()) return fail(write_failure(why, file));
  }
  return opened;
}

// A file that was removed and created again while we waited is another lock.
bool still_there(const FileDescriptor& lock, const std::filesystem::path& file, calls::Status& ours) {
  calls::Status now{};
  return calls::fstat(lock.get(), &ours) == 0 && calls::stat(file.c_str(), &now) == 0 &&
         ours.st_ino == now.st_ino && ours.st_dev == now.st_dev;
}

std::string padded(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(20 - std::min<std::size_t>(20, digits.size()), ' ') + digits;
}

// Has a fixed length, so that one write replaces it.
std::string content_of(std::string_view program, std::int64_t since, std::uint64_t done,
                       std::uint64_t total) {
  return "pid " + padded(static_cast<std::uint64_t>(calls::getpid())) + "\nsince " +
         padded(static_cast<std::uint64_t>(since)) + "\ndone " + padded(done) + "\ntotal " + padded(total) +
         "\nprogram " + std::string(program) + "\n";
}

LockHolder holder_in(std::string_view content) {
  LockHolder holder;
  while (const auto line = take_key_and_value(content)) {
    const std::string_view key = line->key, value = trim(line->value);
    const std::int64_t number = parse_integer(value).value_or(0);
    if (key == "pid") holder.pid = number;
    if (key == "since") holder.since = number;
    if (key == "done") holder.done = static_cast<std::uint64_t>(number);
    if (key == "total") holder.total = static_cast<std::uint64_t>(number);
    if (key == "program") holder.program = value;
  }
  return holder;
}

std::string content_now(const FileDescriptor& lock) {
  char buffer[1024];
  const ssize_t got = calls::pread(lock.get(), buffer, sizeof buffer, 0);
  return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : std::string();
}

// The file's text may be of an earlier holder, or missing if the holder may not write.
LockHolder holder_of_lock(const FileDescriptor& lock, const std::filesystem::path& file,
                          std::string_view content) {
  LockHolder holder = holder_in(content);
  holder.file = file;
  if (const auto owner = inside::owner_of_lock(lock.get()); owner && owner->process != holder.pid) {
    holder.pid = owner->process;
    holder.program = owner->name;
    holder.since = 0;
  }
  return holder;
}

Diagnosis held_by_another(const std::filesystem::path& file, const LockHolder& holder) {
  Diagnosis diagnosis = diagnose(Code::lock_held);
  diagnosis.with(Key::file, path_text(file));
  if (holder.pid != 0) diagnosis.with(Key::holder, std::to_string(holder.pid), path_text(file));
  if (!holder.program.empty()) diagnosis.with(Key::holder_name, holder.program, path_text(file));
  if (holder.since != 0) diagnosis.with(Key::since, std::to_string(holder.since), path_text(file));
  diagnosis.with(Key::waited, std::to_string(holder.waited.count() / 1000) + " s");
  return diagnosis;
}

// `status`: of the locked file.
Result<FileDescriptor> wait_for(const std::filesystem::path& file, int operation, const WaitOptions& wait,
                                calls::Status& status, bool must_exist = false) {
  const Clock::time_point began = Clock::now();
  Clock::time_point last_sign = began, last_reported = began - report_every;
  std::string content;
  milliseconds sleep{1};
  for (;;) {
    TRY_ASSIGN(FileDescriptor lock, open_lock(file, must_exist));
    for (;;) {
      if (calls::flock(lock.get(), operation | LOCK_NB) == 0) {
        if (still_there(lock, file, status)) return lock;
        break;
      }
      if (errno != EWOULDBLOCK && errno != EINTR)
        return fail(diagnose_errno(Code::lock_held, errno).with(Key::file, path_text(file)));
      if (wait.cancel && wait.cancel->canceled())
        return fail(diagnose(Code::canceled).with(Key::file, path_text(file)));
      const Clock::time_point now = Clock::now();
      if (now - last_reported >= report_every) {
        last_reported = now;
        if (std::string read = content_now(lock); read != content) {
          content = std::move(read);
          last_sign = now;
        }
        LockHolder holder = holder_of_lock(lock, file, content);
        holder.waited = std::chrono::duration_cast<milliseconds>(now - began);
        if (wait.on_wait) wait.on_wait(holder);
        if (now - last_sign >= wait.patience || (wait.at_most && now - began >= *wait.at_most))
          return fail(held_by_another(file, holder));
        if (!still_there(lock, file, status)) break;
      }
      std::this_thread::sleep_for(sleep);
      sleep = std::min(sleep * 2, longest_sleep);
    }
  }
}

}  // namespace

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  release();
  file_ = std::move(other.file_);
  exclusive_owner_ = other.exclusive_owner_;
  program_ = std::move(other.program_);
  since_ = other.since_;
  size_ = other.size_;
  modified_ = other.modified_;
  return *this;
}

// Closing alone would leave an exclusive lock with the copies of the descriptor in forked children.
void FileLock::release() const {
  if (held() && exclusive_owner_ == calls::getpid() && calls::flock(file_.get(), LOCK_UN) != 0) return;
}

Result<FileLock> FileLock::exclusive(const std::filesystem::path& file, std::string_view program,
                                     const WaitOptions& wait) {
  FileLock lock;
  calls::Status status{};
  TRY_ASSIGN(lock.file_, wait_for(file, LOCK_EX, wait, status));
  lock.exclusive_owner_ = calls::getpid();
  if (program.empty()) return lock;
  lock.program_ = program;
  lock.since_ = static_cast<std::int64_t>(std::time(nullptr));
  // An earlier holder's text may be longer. A failure to write ours does not prevent the work.
  if (calls::ftruncate(lock.file_.get(), 0) == 0) lock.report_progress(0, 0);
  return lock;
}

Result<std::optional<FileLock>> FileLock::try_exclusive(const std::filesystem::path& file,
                                                        std::string_view program) {
  WaitOptions at_once;
  at_once.patience = milliseconds{0};
  auto lock = exclusive(file, program, at_once);
  if (lock) return std::optional<FileLock>(std::move(*lock));
  if (lock.error().code == Code::lock_held && lock.error().value(Key::errno_).empty())
    return std::optional<FileLock>();
  return fail(std::move(lock.error()));
}

Result<FileLock> FileLock::shared(const std::filesystem::path& file, const WaitOptions& wait,
                                  bool must_exist) {
  calls::Status status{};
  TRY_ASSIGN(FileDescriptor locked, wait_for(file, LOCK_SH, wait, status, must_exist));
  return FileLock(std::move(locked), status.st_size, status.st_mtime);
}

std::optional<FileLock> FileLock::shared_at_once(const std::string& file) {
  FileDescriptor opened(calls::open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  calls::Status status{};
  // A file that was removed before it was locked has no name any more.
  if (!opened.valid() || calls::flock(opened.get(), LOCK_SH | LOCK_NB) != 0 ||
      calls::fstat(opened.get(), &status) != 0 || status.st_nlink == 0)
    return std::nullopt;
  return FileLock(std::move(opened), status.st_size, status.st_mtime);
}

LockHolder FileLock::holder_of(const std::filesystem::path& file) {
  const auto opened = open_lock(file, true);
  if (opened) return holder_of_lock(*opened, file, content_now(*opened));
  LockHolder unknown;
  unknown.file = file;
  return unknown;
}

void FileLock::note_use() const {
  constexpr std::int64_t one_hour = 3600;
  if (std::abs(std::time(nullptr) - modified_) <= one_hour) return;
  if (calls::touch(file_.get()) != 0) return;
}

void FileLock::report_progress(std::uint64_t done, std::uint64_t total) {
  if (!held()) return;
  const std::string content = content_of(program_, since_, done, total);
  if (content.size() > file_size_limit()) return;  // SIGXFSZ would end the application
  if (calls::pwrite(file_.get(), content.data(), content.size(), 0) < 0) return;
}

}  // namespace enginehost::cache
