#include "host/open/open_lock.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/per_process.hpp"

namespace enginehost::open {
namespace inside {

class OpenLocks {
 public:
  enum class Waiting { always, unless_held_here };

  Result<OpenLock> take(const std::string& name, Waiting waiting, const std::optional<CancelToken>& cancel) {
    constexpr std::chrono::milliseconds look{10};
    const auto me = std::this_thread::get_id();
    std::unique_lock lock(mutex_);
    for (bool waited = false;; waited = true) {
      const auto held = find(name);
      if (held == held_.end()) {
        held_.push_back({name, me, 1});
        return OpenLock(this, name, waited);
      }
      if (held->thread == me) {
        ++held->times;
        return OpenLock(this, name, waited);
      }
      if (waiting == Waiting::unless_held_here &&
          std::ranges::any_of(held_, [&](const Held& one) { return one.thread == me; }))
        return OpenLock();
      // With a cancel token, poll: a sleeping waiter would not notice the cancellation.
      if (!cancel) {
        changed_.wait(lock);
        continue;
      }
      if (cancel->canceled()) return fail(diagnose("EH-P10"));
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

PerProcess<inside::OpenLocks> locks;

}  // namespace

void OpenLock::end() {
  inside::OpenLocks* const of = std::exchange(locks_, nullptr);
  // In a child that was forked from a callback, the lock belongs to the parent.
  if (of != nullptr && of == &locks.here()) of->leave(name_);
}

Result<OpenLock> open_lock(const std::string& key, const std::optional<CancelToken>& cancel) {
  return locks.here().take("key " + key, inside::OpenLocks::Waiting::unless_held_here, cancel);
}

Result<OpenLock> load_lock(const std::optional<CancelToken>& cancel) {
  return locks.here().take("loading", inside::OpenLocks::Waiting::always, cancel);
}

}  // namespace enginehost::open
