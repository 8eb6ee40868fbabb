// A list of listeners for an engine's events, which may come from several threads.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace enginehost::load {

// Thread safety: any thread.
template <class Event>
class Listeners {
 public:
  using Listener = std::function<void(const Event&)>;

  // The listener is called on the reporting thread, without any lock of this class held. It must not throw.
  std::size_t add(Listener listener) {
    const std::lock_guard lock(mutex_);
    listeners_.push_back({next_, std::make_shared<const Listener>(std::move(listener)), {}});
    return next_++;
  }

  // Waits until the listener runs on no other thread; its captures may be destroyed afterwards.
  void remove(std::size_t number) {
    std::unique_lock lock(mutex_);
    const auto runs_elsewhere = [&] {
      const Registered* const known = find(number);
      return known != nullptr &&
             std::any_of(known->running.begin(), known->running.end(),
                         [](std::thread::id thread) { return thread != std::this_thread::get_id(); });
    };
    if (Registered* const known = find(number)) known->listener.reset();
    ended_.wait(lock, [&] { return !runs_elsewhere(); });
    std::erase_if(listeners_, [&](const Registered& registered) { return registered.number == number; });
  }

  void report(const Event& event) {
    const std::thread::id here = std::this_thread::get_id();
    std::unique_lock lock(mutex_);
    // Iterates by number because listeners may be added and removed during a call.
    for (std::size_t number = 0; number < next_; ++number) {
      Registered* known = find(number);
      if (known == nullptr || !known->listener) continue;
      const std::shared_ptr<const Listener> listener = known->listener;
      known->running.push_back(here);
      lock.unlock();
      (*listener)(event);
      lock.lock();
      known = find(number);
      if (known == nullptr) continue;
      auto& running = known->running;
      running.erase(std::find(running.begin(), running.end(), here));
      ended_.notify_all();
    }
  }

 private:
  struct Registered {
    std::size_t number;
    std::shared_ptr<const Listener> listener;
    std::vector<std::thread::id> running;  // threads that are calling it
  };
  // Returns null when it is not registered (any more). Valid until a listener is added or removed.
  Registered* find(std::size_t number) {
    const auto known = std::find_if(listeners_.begin(), listeners_.end(), [&](const Registered& registered) {
      return registered.number == number;
    });
    return known != listeners_.end() ? &*known : nullptr;
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Registered> listeners_;
  std::size_t next_ = 1;
};

// Log messages of an engine's plugin, on their way to the application's listeners.

struct LogMessage {
  std::int32_t level = 0;           // ENGINE_LOG_*
  std::string_view topic, message;  // the plugin's text; valid until the listener returns
  bool in_probe = false;            // logged in the child process that probed the build
};

// Listeners are called on the plugin's threads, possibly concurrently, and must not throw.
using EngineLog = Listeners<LogMessage>;

// An owned copy of a message.
struct LogLine {
  std::int32_t level = 0;
  std::string topic, message;
};

}  // namespace enginehost::load
