#include "host/attempt/crash_guard.hpp"

#include <ctime>

#include "base/text.hpp"
#include "host/attempt/process_engines.hpp"
#include "host/history/program.hpp"
#include "host/history/store.hpp"

namespace enginehost::open {

using history::First;

CrashGuard::CrashGuard(GuardedBuild build) : build_(std::move(build)) {
  if (!is_kept() || !build_.proven) return;
  opened_before_ = build_.opened_before || history::was_survived(build_.state_folder, build_.digest,
                                                                 First::opening, history::program_id());
}

std::string CrashGuard::beside() const {
  // A crash marker has little space.
  constexpr std::size_t most_named = 2;
  std::vector<std::string> all = builds_beside(build_.digest);
  if (!build_.substitute.empty()) all.insert(all.begin(), build_.substitute);
  const std::size_t more = all.size() > most_named ? all.size() - most_named : 0;
  all.resize(all.size() - more);
  return join(all, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

void CrashGuard::raise(std::string_view phase) {
  if (auto raised = history::Sentinel::raise(build_.state_folder, build_.build, build_.digest, phase,
                                             build_.artifacts_digest, beside()))
    sentinel_ = std::move(*raised);
}

void CrashGuard::leaves() const {
  if (history::running_here() == this) history::set_running_here(nullptr);
}

void CrashGuard::enter(std::string_view phase) {
  if (!is_kept()) return;
  history::set_running_here(this);
  const std::lock_guard lock(mutex_);
  if (opened_before_) return leave_pending_marker();
  if (sentinel_)
    static_cast<void>(sentinel_->enter(phase));
  else
    raise(phase);
}

// Even a survived build can crash: a driver, or a library beside the build, may have changed.
void CrashGuard::leave_pending_marker() {
  if (pending_marker_) return;
  history::Crash crash = history::crash_while_loading(build_.build, build_.digest, build_.artifacts_digest);
  crash.beside = beside();
  if (!build_.lease->write_marker(history::crash_marker_of(crash))) return;
  pending_marker_.emplace(
      std::move(crash), [lease = build_.lease] { lease->erase_marker(); }, build_.lease->descriptor());
}

void CrashGuard::opening_ended(bool proven) {
  leaves();
  const std::lock_guard lock(mutex_);
  sentinel_.reset();
  pending_marker_.reset();
  build_.lease = nullptr;
  build_.proven = proven;
  if (proven && !opened_before_ && is_kept())
    history::note_survived(build_.state_folder, build_.digest, First::opening, history::program_id());
}

void CrashGuard::work_begins() {
  if (!is_kept()) return;
  history::set_running_here(this);
  const std::lock_guard lock(mutex_);
  if (worked_before_ || ++working_ > 1) return;
  worked_before_ = build_.proven && history::was_survived(build_.state_folder, build_.digest, First::work,
                                                          history::program_id());
  if (!worked_before_) raise("warmup");
}

void CrashGuard::work_ended(bool well) {
  if (!is_kept()) return;
  leaves();
  const std::lock_guard lock(mutex_);
  if (worked_before_) return;
  if (--working_ == 0 || well) sentinel_.reset();
  if (!well) return;
  worked_before_ = true;
  if (!build_.proven) return;
  history::note_survived(build_.state_folder, build_.digest, First::work, history::program_id());
  auto record = history::read_one(build_.state_folder, build_.build, std::time(nullptr));
  if (!record || record->digest != build_.digest || record->strikes == 0) return;
  // The build works in the program that it crashed before, so the crash is resolved. Another program's work
  // proves nothing about it.
  if (record->program != history::program_id()) return;
  record->strikes = 0;
  static_cast<void>(history::write(build_.state_folder, *record));
}

}  // namespace enginehost::open
