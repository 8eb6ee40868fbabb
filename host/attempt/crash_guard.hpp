// Detects afterwards that a build crashed this program.
//
// 1. The first time that a program loads a build, a sentinel file exists while the build loads
//    (history/sentinel.hpp).
// 2. A second sentinel exists while the build does its first work.
// 3. If the program survived both before, no sentinel is written. While such a build loads again, a crash
//    marker in its lease file takes the sentinel's place, because it costs much less.
//
// A process that dies leaves the sentinel or the marker behind, and the next open records the crash.
//
// Thread safety: work_begins() and work_ended() from any thread, the others from the thread that opens.
// Errors: none. If the sentinel or the marker cannot be written, a crash goes unnoticed.
#pragma once
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cache/lease.hpp"
#include "host/history/sentinel.hpp"
#include "host/load/in_process/health.hpp"

namespace enginehost::open {

struct GuardedBuild {
  std::filesystem::path state_folder;  // empty: nothing is recorded, and a crash goes unnoticed
  std::string build, digest, artifacts_digest;
  bool proven = false;            // on record; only then a survived opening counts
  bool opened_before = false;     // by this program; false: the constructor looks it up
  cache::Lease* lease = nullptr;  // of the build; not used after opening_ended()
  std::string substitute = {};    // a library of the program that is used in place of the build's
};

// Shared by the thread that opens the engine and by the engine's health, which reports work from any thread.
class CrashGuard : public load::WorkObserver {
 public:
  explicit CrashGuard(GuardedBuild build);
  ~CrashGuard() override { leaves(); }

  // Enters "dlopen", "entry" or "create". Raises the sentinel or moves it to that phase, or writes the crash
  // marker.
  void enter(std::string_view phase);
  // Ends the guard of an opening that returned, whether it worked or not. Call it after the proof was
  // written, because a survived opening is recorded beside the proof.
  void opening_ended(bool proven);

  void work_begins() override;
  void work_ended(bool well) override;

 private:
  bool is_kept() const { return !build_.state_folder.empty() && !build_.digest.empty(); }
  void raise(std::string_view phase);
  // Returns the other builds and the libraries of this process that may be the reason of a crash.
  std::string beside() const;
  void leave_pending_marker();
  // Marks the calling thread as no longer running the build's code.
  void leaves() const;
  GuardedBuild build_;
  bool opened_before_ = false, worked_before_ = false;
  std::mutex mutex_;
  int working_ = 0;
  std::optional<history::Sentinel> sentinel_;
  std::optional<history::PendingMarker> pending_marker_;
};

}  // namespace enginehost::open
