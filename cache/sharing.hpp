// Whether the locks of a layer mean anything, and what stands in for them where they do not.
#pragma once
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.hpp"

namespace enginehost::cache::inside {

// False on file systems that several machines share (NFS, SMB, Lustre, GPFS, CephFS, 9p, FUSE, …: some of
// them grant every lock, some only within one machine) and where try_locks() once found that a lock is not
// kept. Two system calls. EH-F23 ("file") where that note cannot be looked for now: nothing is removed then.
Result<bool> are_locks_kept(const std::filesystem::path& root);

// The same for who removes nothing, and then takes the locks.
inline bool locks_are_kept(const std::filesystem::path& root) { return are_locks_kept(root).value_or(true); }

// Tells apart the file systems that a cache may lie on one after the other: it may be copied, or its file
// system mounted otherwise after the machine started again.
std::string file_system_of(const std::filesystem::path& root);

// Takes a lock twice through two descriptors, which must fail; where it does not, leaves a note for everyone
// who uses this layer on this file system from then on. EH-F15, EH-F16 when no file can be made.
Result<void> try_locks(const std::filesystem::path& root);

// A file that says "in use" where locks cannot: <lease>.<machine>-<process>-<random>.alive, renewed by a
// thread of its own, removed with the object. One owner.
class Heartbeat {
 public:
  // Nothing is made where nothing can be written.
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

// True while some process says that it uses the view: one of this machine that is alive, or one of another
// machine whose file was renewed within a day. Files of the dead are removed.
bool in_use(const std::filesystem::path& root, std::string_view digest);

}  // namespace enginehost::cache::inside
