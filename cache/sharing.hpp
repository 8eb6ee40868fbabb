// Locks of the operating system: where they work, what replaces them elsewhere, and who holds them.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.hpp"

namespace enginehost::cache::inside {

// Returns false on file systems that several machines share (NFS, SMB, Lustre, GPFS, CephFS, 9p, FUSE, …),
// because some of them grant every lock and some lock within one machine only. Also returns false where
// try_locks() found that locks do not work. Takes two system calls. Errors: EH-F23 ("file") if the note of
// try_locks() cannot be read; the caller then removes nothing.
Result<bool> are_locks_kept(const std::filesystem::path& root);

// The same for callers that remove nothing; an error counts as working locks.
inline bool locks_are_kept(const std::filesystem::path& root) { return are_locks_kept(root).value_or(true); }

// Returns a text that identifies the current file system of a cache. It changes when the cache is copied or
// its file system is mounted differently after a reboot.
std::string file_system_of(const std::filesystem::path& root);

// Takes a lock twice through two descriptors; the second attempt must fail. If it succeeds, leaves a note for
// every later user of this layer on this file system. Errors: EH-F15, EH-F16 if no file can be created.
Result<void> try_locks(const std::filesystem::path& root);

// A file that marks a build as in use where locks do not work: <lease>.<machine>-<process>-<random>.alive. A
// thread renews it; the destructor removes it. One owner.
class Heartbeat {
 public:
  // Returns nullptr if the file cannot be written or no thread can be started.
  static std::unique_ptr<Heartbeat> start(const std::filesystem::path& root, std::string_view digest);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  explicit Heartbeat(std::filesystem::path file);

  std::filesystem::path file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

// Returns true while a process marks the view as in use: a live process of this machine, or one of another
// machine that renewed its file within a day. Removes the files of dead processes.
bool in_use(const std::filesystem::path& root, std::string_view digest);

// The process that holds a file's lock, according to the system.

struct LockOwner {
  std::int64_t process = 0;
  std::string name;  // of its program; empty if the system does not report it
};

// Returns nothing if the system does not report it, and for a process of another machine or container.
std::optional<LockOwner> owner_of_lock(int file);

}  // namespace enginehost::cache::inside
