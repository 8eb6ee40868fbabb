#include "host/open/trial.hpp"

#include <ctime>

#include "host/history/firsts.hpp"
#include "host/history/program.hpp"
#include "host/history/store.hpp"

namespace enginehost::open {

using history::First;

Trial::Trial(Tried tried) : tried_(std::move(tried)) {
  if (!is_kept() || !tried_.proven) return;
  opened_before_ = tried_.opened_before || history::was_survived(tried_.state_folder, tried_.digest,
                                                                 First::opening, history::program_id());
}

void Trial::raise(std::string_view phase) {
  if (auto raised = history::Sentinel::raise(tried_.state_folder, tried_.build, tried_.digest, phase,
                                             tried_.artifacts_digest))
    sentinel_ = std::move(*raised);
}

void Trial::leaves() const {
  if (history::running_here() == this) history::set_running_here(nullptr);
}

void Trial::enter(std::string_view phase) {
  if (!is_kept()) return;
  history::set_running_here(this);
  const std::lock_guard lock(mutex_);
  if (opened_before_) return foretell();
  if (sentinel_)
    static_cast<void>(sentinel_->enter(phase));
  else
    raise(phase);
}

// A driver may be another one since, and what lies beside the build.
void Trial::foretell() {
  if (foretold_) return;
  history::Crash crash =
      history::crash_while_loading(tried_.build, tried_.digest, tried_.artifacts_digest,
                                   tried_.program.empty() ? history::program_id() : tried_.program);
  if (!tried_.lease->leave_word(history::word_of(crash))) return;
  foretold_.emplace(
      std::move(crash), [lease = tried_.lease] { lease->take_word_back(); }, tried_.lease->descriptor());
}

void Trial::opening_ended(bool proven) {
  leaves();
  const std::lock_guard lock(mutex_);
  sentinel_.reset();
  foretold_.reset();
  tried_.lease = nullptr;
  tried_.proven = proven;
  if (proven && !opened_before_ && is_kept())
    history::note_survived(tried_.state_folder, tried_.digest, First::opening, history::program_id());
}

void Trial::work_begins() {
  if (!is_kept()) return;
  history::set_running_here(this);
  const std::lock_guard lock(mutex_);
  if (worked_before_ || ++working_ > 1) return;
  worked_before_ = tried_.proven && history::was_survived(tried_.state_folder, tried_.digest, First::work,
                                                          history::program_id());
  if (!worked_before_) raise("warmup");
}

void Trial::work_ended(bool well) {
  if (!is_kept()) return;
  leaves();
  const std::lock_guard lock(mutex_);
  if (worked_before_) return;
  if (--working_ == 0 || well) sentinel_.reset();
  if (!well) return;
  worked_before_ = true;
  if (!tried_.proven) return;
  history::note_survived(tried_.state_folder, tried_.digest, First::work, history::program_id());
  auto record = history::read_one(tried_.state_folder, tried_.build, std::time(nullptr));
  if (!record || record->digest != tried_.digest || record->strikes == 0) return;
  // It works in the program that it once ended: that was not its fault, or is over. Another program's work
  // says nothing of that.
  if (record->program != history::program_id()) return;
  record->strikes = 0;
  static_cast<void>(history::write(tried_.state_folder, *record));
}

}  // namespace enginehost::open
