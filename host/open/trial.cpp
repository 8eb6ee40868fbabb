#include "host/open/trial.hpp"

#include <ctime>

#include "host/history/program.hpp"

namespace enginehost::open {

Trial::Trial(Tried tried, const history::Record* known) : tried_(std::move(tried)) {
  if (known == nullptr || known->state != history::State::proven || known->digest != tried_.digest) return;
  opened_before_ = history::was_first(history::First::opening, *known, history::program_id());
  worked_before_ = history::was_first(history::First::operation, *known, history::program_id());
}

void Trial::enter(std::string_view phase) {
  if (opened_before_ || tried_.state_folder.empty() || tried_.digest.empty()) return;
  const std::lock_guard lock(mutex_);
  if (sentinel_) {
    static_cast<void>(sentinel_->enter(phase));
  } else if (auto raised = history::Sentinel::raise(tried_.state_folder, tried_.build, tried_.digest, phase,
                                                    tried_.artifacts_digest)) {
    sentinel_ = std::move(*raised);
  }
}

void Trial::opening_ended() {
  const std::lock_guard lock(mutex_);
  sentinel_.reset();
}

void Trial::work_begins() {
  if (tried_.state_folder.empty() || tried_.digest.empty()) return;
  const std::lock_guard lock(mutex_);
  if (worked_before_ || ++working_ > 1) return;
  if (auto raised = history::Sentinel::raise(tried_.state_folder, tried_.build, tried_.digest, "warmup",
                                             tried_.artifacts_digest))
    sentinel_ = std::move(*raised);
}

void Trial::work_ended(bool well) {
  if (tried_.state_folder.empty() || tried_.digest.empty()) return;
  const std::lock_guard lock(mutex_);
  if (worked_before_) return;
  if (--working_ == 0 || well) sentinel_.reset();
  if (!well) return;
  worked_before_ = true;
  const auto record = history::read_one(tried_.state_folder, tried_.build, std::time(nullptr));
  if (!record || record->state != history::State::proven || record->digest != tried_.digest) return;
  // Where it cannot be written, the next process raises its sentinel again.
  static_cast<void>(history::write(
      tried_.state_folder, history::after_first(history::First::operation, *record, history::program_id())));
}

}  // namespace enginehost::open
