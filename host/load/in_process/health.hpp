// What calls into an engine have shown: that it works at all, and which of its devices are lost.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.hpp"
#include "host/load/in_process/listeners.hpp"

namespace enginehost::load {

// Told of an engine's work until some of it went well. Calls may come from several threads.
class WorkObserver {
 public:
  virtual ~WorkObserver() = default;
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
bool reports_a_lost_device(const Diagnosis& failure);

// Any thread. It may outlive the engine that it was made for: one that takes that engine's place goes on with
// it.
class Health {
 public:
  // Called on the thread whose call showed the change (listeners.hpp).
  std::size_t add_listener(Listeners<DeviceEvent>::Listener listener) {
    return listeners_.add(std::move(listener));
  }
  void remove_listener(std::size_t number) { listeners_.remove(number); }

  // Before the first operation; forgotten once one went well.
  void observe_work(std::shared_ptr<WorkObserver> first);

  // The number of an engine that tells its work here. Of several, one counts: the first, until another takes
  // its place. Models of before go on failing, which says nothing of the engine that works.
  std::uint64_t add_engine();
  void takes_place(std::uint64_t engine);

  bool is_lost(const std::string& device) const;
  // Tells the listeners when that is a change. `engine`: whose call showed it; one that does not count (any
  // more) is not heard.
  void lost(const std::string& device, const Diagnosis& why, std::uint64_t engine = of_any);
  void back(const std::string& device);
  static constexpr std::uint64_t of_any = 0;

  // Whom to tell of the end of a piece of work that begins here: null when nobody wants to know any more.
  std::shared_ptr<WorkObserver> work_begins();
  void work_ended(const std::shared_ptr<WorkObserver>& first, bool well);

 private:
  Listeners<DeviceEvent> listeners_;
  mutable std::mutex mutex_;
  std::map<std::string, bool> lost_;
  std::uint64_t last_engine_ = 0, engine_ = 0;  // that has a number; that counts
  std::atomic<bool> any_lost_{false}, untried_{false};
  std::shared_ptr<WorkObserver> first_;
};

// Tells of the work in a scope, on one thread: a run, an operation, a self-test, the loading of a model, the
// copy of a tensor. `return work.ended(call.finish(...))`. Made by Engine::work_on().
class Work {
 public:
  Work(Health& health, std::uint64_t engine, std::string device, WorkKind kind)
      : health_(health),
        engine_(engine),
        device_(std::move(device)),
        kind_(kind),
        first_(health.work_begins()) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() {
    if (!ended_ && first_)
      health_.work_ended(first_, false);  // left early: nothing is known to have gone well
  }
  template <class T>
  Result<T> ended(Result<T> result) {
    end(result ? nullptr : &result.error());
    return result;
  }

 private:
  void end(const Diagnosis* failure);
  Health& health_;
  std::uint64_t engine_;
  std::string device_;
  WorkKind kind_;
  std::shared_ptr<WorkObserver> first_;
  bool ended_ = false;
};

}  // namespace enginehost::load
