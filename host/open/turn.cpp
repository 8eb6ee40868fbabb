#include "host/open/turn.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/per_process.hpp"

namespace enginehost::open {
namespace inside {

class Turns {
 public:
  enum class Waiting { always, unless_it_has_a_turn };

  Result<Turn> take(const std::string& name, Waiting waiting, const std::optional<CancelToken>& cancel) {
    constexpr std::chrono::milliseconds look{10};
    const auto me = std::this_thread::get_id();
    std::unique_lock lock(mutex_);
    for (bool waited = false;; waited = true) {
      const auto held = find(name);
      if (held == held_.end()) {
        held_.push_back({name, me, 1});
        return Turn(this, name, waited);
      }
      if (held->thread == me) {
        ++held->times;
        return Turn(this, name, waited);
      }
      if (waiting == Waiting::unless_it_has_a_turn &&
          std::ranges::any_of(held_, [&](const Held& one) { return one.thread == me; }))
        return Turn();
      // A sleeping waiter could not see that it is cancelled.
      if (!cancel) {
        changed_.wait(lock);
        continue;
      }
      if (cancel->cancelled()) return fail(diagnose("EH-P10"));
      changed_.wait_for(lock, look);
    }
  }

  void leave(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto held = find(name);
    if (held == held_.end() || --held->times > 0) return;
    held_.erase(held);
    changed_.notify_all();
  }

 private:
  struct Held {
    std::string name;
    std::thread::id thread;
    int times;
  };
  std::vector<Held>::iterator find(const std::string& name) {
    return std::ranges::find(held_, name, &Held::name);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Held> held_;
};

}  // namespace inside

namespace {

PerProcess<inside::Turns> turns;

}  // namespace

void Turn::end() {
  inside::Turns* const of = std::exchange(turns_, nullptr);
  // In a child that was forked from a callback it is the parent's.
  if (of != nullptr && of == &turns.here()) of->leave(name_);
}

Result<Turn> key_turn(const std::string& key, const std::optional<CancelToken>& cancel) {
  return turns.here().take("key " + key, inside::Turns::Waiting::unless_it_has_a_turn, cancel);
}

Result<Turn> loading_turn(const std::optional<CancelToken>& cancel) {
  return turns.here().take("loading", inside::Turns::Waiting::always, cancel);
}

}  // namespace enginehost::open
