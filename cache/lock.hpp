// Locks between processes: flock on files below the cache, freed by the kernel when their owner dies.
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

// Who holds a lock, as it wrote into the lock file.
struct LockHolder {
  std::filesystem::path file;  // the lock's
  std::int64_t pid = 0;        // 0: not known
  std::string program;
  std::int64_t since = 0;               // seconds since 1970
  std::uint64_t done = 0, total = 0;    // bytes; total 0: not known
  std::chrono::milliseconds waited{0};  // by us
};

struct WaitOptions {
  // Given up (EH-F18) when the holder has shown no progress for so long.
  std::chrono::milliseconds patience{120'000};
  // Given up (EH-F18) after so long, whatever the holder does. Nothing: it may take its time.
  std::optional<std::chrono::milliseconds> at_most;
  std::function<void(const LockHolder&)> on_wait;  // about four times a second, from the waiting thread
  std::optional<CancelToken> cancel;
};

// An exclusive or shared flock. Released on destruction. Used by one thread at a time; may move between
// threads.
class FileLock {
 public:
  FileLock() = default;

  // Waits for the exclusive lock and writes who holds it into the file; with an empty `program` the file is
  // left as it is (what a lease's time tells is its last use). EH-F18: "file", "holder", "holder_name",
  // "since", "waited"; EH-P10 when canceled; EH-F15/EH-F16 when the file cannot be made.
  static Result<FileLock> exclusive(const std::filesystem::path& file, std::string_view program,
                                    const WaitOptions& wait = {});
  // Nothing when someone else holds it.
  static Result<std::optional<FileLock>> try_exclusive(const std::filesystem::path& file,
                                                       std::string_view program);
  // Waits for a shared lock; works on a file that can only be read.
  static Result<FileLock> shared(const std::filesystem::path& file, const WaitOptions& wait = {});
  // The same for a file that is already there; makes none. EH-F16 when there is none.
  static Result<FileLock> shared_existing(const std::filesystem::path& file, const WaitOptions& wait = {});

  // The same without waiting, and without telling why there is none.
  static std::optional<FileLock> shared_at_once(const std::string& file);

  bool held() const { return file_.valid(); }
  int descriptor() const { return file_.get(); }
  // Of a shared lock: the file's bytes when it was taken.
  std::int64_t size_when_taken() const { return size_; }
  // Of a shared lock: gives the file the time of now when its time is more than an hour away, so that it
  // tells the last use. Where that is not permitted nothing happens.
  void note_use() const;
  // Tells those who wait; cheap enough for every few MiB. Only meaningful for an exclusive lock.
  void report_progress(std::uint64_t done, std::uint64_t total);

 private:
  FileLock(FileDescriptor file, std::int64_t size, std::int64_t modified)
      : file_(std::move(file)), size_(size), modified_(modified) {}
  FileDescriptor file_;
  std::string program_;
  std::int64_t since_ = 0;
  std::int64_t size_ = 0, modified_ = 0;  // of the file when the lock was taken
};

}  // namespace enginehost::cache
