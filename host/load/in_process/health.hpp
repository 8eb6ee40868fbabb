// What calls into an engine have shown: that it works at all, and which of its devices are lost.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.hpp"

namespace enginehost::load {

// Told of an engine's work until some of it went well. Calls may come from several threads.
class FirstWork {
 public:
  virtual ~FirstWork() = default;
  virtual void work_begins() = 0;
  // `well`: something was computed. False also for what only came before that and did not fail.
  virtual void work_ended(bool well) = 0;
};

// Loading a model and moving a tensor run the build's code, and may end the process, but compute nothing:
// what they say of a build's first work is only that it was survived so far.
enum class WorkKind { computing, preparing };

struct DeviceEvent {
  std::string device;  // "cuda:0"
  bool lost = false;   // false: it is back
  Diagnosis why;       // of a loss: what the engine reported
};

// True when the diagnosis says that the device, its context or the engine's worker is gone: the plugin's
// ENGINE_LOST, or one of CUDA's errors after which every call of the process fails the same way (CUDA runtime
// API, "Data types": "this leaves the process in an inconsistent state").
bool tells_of_a_lost_device(const Diagnosis& failure);

// Any thread. It may outlive the engine that it was made for: one that takes that engine's place goes on with
// it.
class Health {
 public:
  using Listener = std::function<void(const DeviceEvent&)>;

  // Listeners are called on the thread whose call showed the change, while nothing of ours is locked; they
  // must not throw. remove_listener() waits until the listener runs on no other thread: what it uses may go
  // then.
  std::size_t add_listener(Listener listener);
  void remove_listener(std::size_t number);

  // Before the first operation; forgotten once one went well.
  void tell_first_work(std::shared_ptr<FirstWork> first);

  bool is_lost(const std::string& device) const;
  // Tells the listeners when that is a change.
  void lost(const std::string& device, const Diagnosis& why);
  void back(const std::string& device);

  // Around every piece of work on a device: a run, an operation, a self-test, the loading of a model, the
  // copy of a tensor.
  void work_begins();
  void work_ended(const std::string& device, const Diagnosis* failure, WorkKind kind);

 private:
  struct Registered {
    std::size_t number;
    std::shared_ptr<const Listener> listener;
    std::vector<std::thread::id> running;  // it is being called there
  };
  // Null where there is none (any more). Good until one is added or removed.
  Registered* find(std::size_t number);
  void tell(const DeviceEvent& event);
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Registered> listeners_;
  std::size_t next_listener_ = 1;
  std::map<std::string, bool> lost_;
  std::atomic<bool> any_lost_{false}, untried_{false};
  std::shared_ptr<FirstWork> first_;
};

// Tells of the work in a scope: `return work.ended(call.finish(...))`.
class Work {
 public:
  Work(Health& health, std::string device, WorkKind kind = WorkKind::computing)
      : health_(health), device_(std::move(device)), kind_(kind) {
    health_.work_begins();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() {
    if (!ended_) health_.work_ended(device_, &not_told_, kind_);
  }
  template <class T>
  Result<T> ended(Result<T> result) {
    ended_ = true;
    health_.work_ended(device_, result ? nullptr : &result.error(), kind_);
    return result;
  }

 private:
  Health& health_;
  std::string device_;
  WorkKind kind_;
  bool ended_ = false;
  Diagnosis not_told_;  // left early: nothing is known to have gone well
};

}  // namespace enginehost::load
