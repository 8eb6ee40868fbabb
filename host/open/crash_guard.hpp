// A build's code that runs in this program for the first time: a sentinel stands while it is loaded, and
// again while it does its first work, so that a crash is known of afterwards. Neither stands for what the
// program has survived before; while that is loaded again, a word in the build's lease does.
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
  std::filesystem::path state_folder;  // empty: nothing is kept, and a crash is not known of
  std::string build, digest, artifacts_digest;
  bool proven = false;            // on record: what was survived before counts
  bool opened_before = false;     // by this program; false: it is looked for
  std::string program;            // its name (history::program_id), where that is known without a look
  cache::Lease* lease = nullptr;  // of the build, until opening ended
};

// Shared by the engine's health, which tells of its work on any thread, and by whoever opens it.
class CrashGuard : public load::WorkObserver {
 public:
  explicit CrashGuard(GuardedBuild build);
  ~CrashGuard() override { leaves(); }

  // "dlopen", "entry", "create": raises the sentinel, or moves it on; or leaves the word. Where it cannot be
  // written there is none.
  void enter(std::string_view phase);
  // Opening ended in an orderly way. Call it after a proof was written: what was survived is noted beside
  // that.
  void opening_ended(bool proven);

  void work_begins() override;
  void work_ended(bool well) override;

 private:
  bool is_kept() const { return !build_.state_folder.empty() && !build_.digest.empty(); }
  void raise(std::string_view phase);
  void leave_pending_marker();
  // The calling thread does not run the build's code any more.
  void leaves() const;
  GuardedBuild build_;
  bool opened_before_ = false, worked_before_ = false;
  std::mutex mutex_;
  int working_ = 0;
  std::optional<history::Sentinel> sentinel_;
  std::optional<history::PendingMarker> pending_marker_;
};

}  // namespace enginehost::open
