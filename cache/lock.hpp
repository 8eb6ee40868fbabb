// Locks between processes: flock on files below the cache. The kernel releases them when their owner dies.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/cancel.hpp"
#include "base/files.hpp"

namespace enginehost::cache {

// The holder of a lock, as it wrote itself into the lock file.
struct LockHolder {
  std::filesystem::path file;  // the lock file
  std::int64_t pid = 0;        // 0: unknown
  std::string program;
  std::int64_t since = 0;               // seconds since 1970
  std::uint64_t done = 0, total = 0;    // bytes; total 0: unknown
  std::chrono::milliseconds waited{0};  // by this process
};

struct WaitOptions {
  // The wait fails (EH-F18) if the holder shows no progress for this long.
  std::chrono::milliseconds patience{120'000};
  // The wait fails (EH-F18) after this long in any case. Nothing: no limit.
  std::optional<std::chrono::milliseconds> at_most;
  std::function<void(const LockHolder&)> on_wait;  // about four times a second, from the waiting thread
  std::optional<CancelToken> cancel;
};

// An exclusive or shared flock, released on destruction. A child that the application forked meanwhile has a
// copy of the descriptor: it keeps a shared lock, because it may use the same files, but neither keeps an
// exclusive one nor releases it. Thread safety: one thread at a time; may move between threads.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock() { release(); }
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept;

  // Waits for the exclusive lock and writes the holder into the file. An empty `program` leaves the file as
  // it is, because the time of a lease is its last use. Errors: EH-F18 with "file", "holder", "holder_name",
  // "since" and "waited"; EH-P10 if canceled; EH-F15/EH-F16 if the file cannot be created.
  static Result<FileLock> exclusive(const std::filesystem::path& file, std::string_view program,
                                    const WaitOptions& wait = {});
  // Returns nothing if another process holds it.
  static Result<std::optional<FileLock>> try_exclusive(const std::filesystem::path& file,
                                                       std::string_view program);
  // Waits for a shared lock; a read-only file is enough. Errors: EH-F16 if the file does not exist and
  // `must_exist`.
  static Result<FileLock> shared(const std::filesystem::path& file, const WaitOptions& wait = {},
                                 bool must_exist = false);
  // The same without waiting; nothing on any failure.
  static std::optional<FileLock> shared_at_once(const std::string& file);

  // Returns who holds the lock of an existing file at this moment, as far as it is known; of several holders
  // of a shared lock one. For a report after try_exclusive() returned nothing: by then the lock may be free.
  static LockHolder holder_of(const std::filesystem::path& file);

  bool held() const { return file_.valid(); }
  int descriptor() const { return file_.get(); }
  // Returns the file's size when the shared lock was taken.
  std::int64_t size_when_taken() const { return size_; }
  // Sets the file's time to now, as its last use, if it is more than an hour off. For a shared lock. Does
  // nothing without permission.
  void note_use() const;
  // Reports progress to waiting processes; cheap enough for every few MiB. Only for an exclusive lock.
  void report_progress(std::uint64_t done, std::uint64_t total);

 private:
  FileLock(FileDescriptor file, std::int64_t size, std::int64_t modified)
      : file_(std::move(file)), size_(size), modified_(modified) {}
  void release() const;
  FileDescriptor file_;
  std::int64_t exclusive_owner_ = 0;  // the process that took an exclusive lock
  std::string program_;
  std::int64_t since_ = 0;
  std::int64_t size_ = 0, modified_ = 0;  // of the file when the lock was taken
};

}  // namespace enginehost::cache
