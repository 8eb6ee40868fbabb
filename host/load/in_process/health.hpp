// Health of an engine: whether its work succeeds, and which of its devices are lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/result.hpp"
#include "host/load/in_process/listeners.hpp"

namespace enginehost::load {

// Observes an engine's work until the first success. Calls may come from several threads.
class WorkObserver {
 public:
  virtual ~WorkObserver() = default;
  virtual void work_begins() = 0;
  // `well`: something was computed. False also for work that only precedes a computation and did not fail.
  virtual void work_ended(bool well) = 0;
};

// Kinds of work. Loading a model and moving a tensor (`preparing`) run the build's code and may crash the
// process, but compute nothing. Their success only shows that the process survived so far.
enum class WorkKind { computing, preparing };

struct DeviceEvent {
  std::string device;  // "cuda:0"
  bool lost = false;   // false: it works again
  Diagnosis why;       // for a lost device: the engine's report
};

// True when the diagnosis shows that the device, its context or the engine's worker is gone: the plugin's
// ENGINE_LOST, or a CUDA error after which every call of the process fails the same way (CUDA runtime API,
// "Data types": "this leaves the process in an inconsistent state").
bool reports_a_lost_device(const Diagnosis& failure);

// Health of an engine and of the engines that replace it. It may outlive an engine; the replacement continues
// with the same object.
// Thread safety: any thread.
class Health {
 public:
  // The listener is called on the thread whose call showed the change (listeners.hpp).
  std::size_t add_listener(Listeners<DeviceEvent>::Listener listener) {
    return listeners_.add(std::move(listener));
  }
  void remove_listener(std::size_t number) { listeners_.remove(number); }

  // Call before the first operation. The observer is dropped after the first success.
  void observe_work(std::shared_ptr<WorkObserver> first);

  // Returns the number under which an engine reports its work. Only the active engine's reports count: the
  // first engine, until takes_place() names another. Models of a replaced engine go on failing, which does
  // not concern the active one.
  std::uint64_t add_engine();
  void takes_place(std::uint64_t engine);

  bool is_lost(const std::string& device) const;
  // Notifies the listeners when the state changes. `engine`: the reporting engine; ignored unless it is the
  // active one or of_any.
  void lost(const std::string& device, const Diagnosis& why, std::uint64_t engine = of_any);
  void back(const std::string& device);
  static constexpr std::uint64_t of_any = 0;

  // Returns the observer to notify when the work that begins here ends; null when nobody observes any more.
  std::shared_ptr<WorkObserver> work_begins();
  void work_ended(const std::shared_ptr<WorkObserver>& first, bool well);

 private:
  Listeners<DeviceEvent> listeners_;
  mutable std::mutex mutex_;
  std::set<std::string> lost_;
  std::uint64_t last_engine_ = 0, engine_ = 0;  // the highest number given; the active engine
  std::shared_ptr<WorkObserver> first_;
};

// Reports the work in a scope, on one thread: a run, an operation, a self-test, the loading of a model, the
// copy of a tensor. Usage: `return work.ended(call.finish(...))`. Created by Engine::work_on().
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
    if (!ended_ && first_) health_.work_ended(first_, false);  // left early: success is unknown
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
