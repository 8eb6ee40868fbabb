// Watches the devices of an open engine on a thread of its own. An application learns of a lost device even
// while it makes no calls.
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
  // Between two self-tests. The interval for a lost device doubles up to sixteen times this, until a device
  // sign changes.
  std::chrono::milliseconds interval{30'000};
  std::chrono::milliseconds signs_interval{1'000};  // between two reads of platform::device_signs()
  platform::Root root;                              // device signs are read below it
  // Called on the watch's thread, one call at a time, without any lock held. It may call into the engine and
  // may destroy the watch; it must not throw. `why` is EH-R18.
  std::function<void(const load::DeviceEvent&)> reported;
};

// Reports each loss of a device once, and each return once.
//
// - The application's own calls show a loss immediately. Without calls, the engine's self-test of level 1
//   runs at the interval, and when a device sign changes.
// - An engine that is busy with an exclusive call is not tested, because that call will show the loss.
// - A device is lost if reports_a_lost_device() returns true, or if the self-test fails with a lasting error
//   after a sign changed. A self-test that runs out of time is not a loss.
// - A lost device is back when the engine's own self-test passes again, or when a new engine of the same
//   plugin passes SharedEngine::check().
class DeviceWatch {
 public:
  // Keeps the engine open until the watch is destroyed.
  DeviceWatch(std::shared_ptr<SharedEngine> engine, WatchOptions options);
  // Starts the thread. Call it once. Separate from the constructor, so that the caller holds the watch before
  // the first report.
  void start();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;
  // Returns when `reported` runs on no other thread and will not be called again. Cancels a running
  // self-test, and waits for it if a driver does not return.
  ~DeviceWatch();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::size_t listener_ = 0;
};

}  // namespace enginehost::open
