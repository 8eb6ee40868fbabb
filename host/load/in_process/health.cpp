#include "host/load/in_process/health.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.hpp"

namespace enginehost::load {

bool reports_a_lost_device(const Diagnosis& failure) {
  if (failure.value(Key::status) == "ENGINE_LOST") return true;
  if (failure.value(Key::origin) != "cuda") return false;
  // 214 and 220 uncorrectable ECC and NVLink errors, 700 illegal address, 702 launch timeout, 709 context
  // destroyed, 710 assertion, 714 hardware stack, 715 illegal instruction, 716 misaligned address, 717
  // address space, 718 program counter, 719 launch failure.
  constexpr std::int64_t sticky[] = {214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719};
  const auto native = parse_integer(failure.value(Key::native));
  return native && std::find(std::begin(sticky), std::end(sticky), *native) != std::end(sticky);
}

void Health::observe_work(std::shared_ptr<WorkObserver> first) {
  const std::lock_guard lock(mutex_);
  first_ = std::move(first);
}

bool Health::is_lost(const std::string& device) const {
  const std::lock_guard lock(mutex_);
  return lost_.contains(device);
}

std::uint64_t Health::add_engine() {
  const std::lock_guard lock(mutex_);
  ++last_engine_;
  if (engine_ == 0) engine_ = last_engine_;
  return last_engine_;
}

void Health::takes_place(std::uint64_t engine) {
  const std::lock_guard lock(mutex_);
  engine_ = engine;
}

void Health::lost(const std::string& device, const Diagnosis& why, std::uint64_t engine) {
  {
    const std::lock_guard lock(mutex_);
    if (engine != of_any && engine != engine_) return;
    if (!lost_.insert(device).second) return;
  }
  listeners_.report({device, true, why});
}

void Health::back(const std::string& device) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_.erase(device) == 0) return;
  }
  listeners_.report({device, false, {}});
}

std::shared_ptr<WorkObserver> Health::work_begins() {
  std::shared_ptr<WorkObserver> first;
  {
    const std::lock_guard lock(mutex_);
    first = first_;
  }
  if (first) first->work_begins();
  return first;
}

void Health::work_ended(const std::shared_ptr<WorkObserver>& first, bool well) {
  first->work_ended(well);
  if (well) observe_work(nullptr);
}

void Work::end(const Diagnosis* failure) {
  ended_ = true;
  // Before the listeners are called, because they may end the process.
  if (first_) health_.work_ended(first_, failure == nullptr && kind_ == WorkKind::computing);
  if (failure != nullptr && reports_a_lost_device(*failure)) health_.lost(device_, *failure, engine_);
}

}  // namespace enginehost::load
