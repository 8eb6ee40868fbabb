// Looks after the devices of an open engine on a thread of its own, so that a loss is told to an application
// that is not just calling.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/health.hpp"
#include "host/open/shared.hpp"
#include "host/platform/root.hpp"

namespace enginehost::open {

struct WatchOptions {
  std::vector<load::Device> devices;  // of the engine
  // Between two questions to the engine. A device that is lost is asked for less and less often, up to
  // sixteen times this apart, until a sign changes.
  std::chrono::milliseconds interval{30'000};
  std::chrono::milliseconds signs_interval{1'000};  // between two looks at platform::device_signs()
  platform::Root root;                              // where signs are looked for
  // On the watch's thread, one call at a time, while nothing of ours is locked. It may call into the engine
  // and may destroy the watch; it must not throw. `why` is EH-R18.
  std::function<void(const load::DeviceEvent&)> reported;
};

// Tells `told` once when a device is lost and once when it is back. What the application's own calls show is
// told at once; without calls the engine is asked by its self-test of level 1, at the interval and when a
// sign changes. An engine that is busy with a call that must be alone is not asked: that call will tell. A
// device is lost when reports_a_lost_device() says so, or when the self-test fails in any lasting way after
// a sign changed; a question that ran out of time is no loss. A lost device is back when the engine's own
// self-test passes again, or when a new engine of the same plugin passes SharedEngine::check().
class DeviceWatch {
 public:
  // Holds the engine until it is destroyed.
  DeviceWatch(std::shared_ptr<SharedEngine> engine, WatchOptions options);
  // Begins to watch, once. Apart from making it, so that whoever holds the watch does so before `told` runs.
  void start();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;
  // Waits until `told` runs on no other thread and is not called any more. A question under way is
  // canceled; one that a driver does not let go of is waited for.
  ~DeviceWatch();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::size_t listener_ = 0;
};

}  // namespace enginehost::open
