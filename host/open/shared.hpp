// Engines that are open in this process and shared by equal requests, so that opening one again costs almost
// nothing.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "host/attempt/attempt.hpp"
#include "host/context/open_context.hpp"
#include "host/load/in_process/check.hpp"
#include "host/open/open.hpp"

namespace enginehost::open {

// Runs load::check_device() on the device of that name, or on the first device if the name is empty.
//
// A lost device is reopened: the plugin creates a new engine in this process. If that works, the new engine
// replaces the old one, and listeners are notified that the device is back. Models and tensors of the old
// engine stay valid, but keep failing.
//
// Errors: EH-S09 if there is no such device. Otherwise those of load::check_device(), with "reopening" if
// reopening failed too. Thread safety: one thread at a time for an engine. Others may read `opened.engine`
// under `readers`, which is locked only while the engine is replaced.
Result<load::DeviceCheck> check_device(Opened& opened, const std::string& device,
                                       const load::CallOptions& options = {}, std::mutex* readers = nullptr);

// An open engine with its outcome, shared by all equal requests.
//
// Thread safety: const members from any thread. Plugin calls that must not overlap on one engine need
// exclusive().
class SharedEngine {
 public:
  // `preferred_device`: from the settings. `basis`: of an open that decided, see basis().
  SharedEngine(std::unique_ptr<OpenContext> context, Outcome outcome, std::string preferred_device,
               std::string basis = {});
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;
  ~SharedEngine();

  const Outcome& outcome() const { return outcome_; }
  const Opened& opened() const { return *outcome_.opened; }
  // check() may replace the engine: call this while you hold exclusive().
  load::Engine& engine() const { return *outcome_.opened->engine; }
  // Returns the engine's health, the same object for the lifetime of this one. A lost device ends the
  // sharing.
  const std::shared_ptr<load::Health>& health() const { return health_; }
  const std::vector<std::string>& device_names() const { return device_names_; }

  // Returns the configured preference: "cuda:1,cpu", or "" for none.
  const std::string& preferred_device() const { return preferred_device_; }

  // Returns the environment and the settings under which an open decided; empty for a cached decision.
  const std::string& basis() const { return basis_; }

  // Returns the JSON document, made at the first call. Any thread.
  const std::string& report();

  // Waits until no other thread makes such a call on this engine; EH-P10 if canceled before.
  Result<std::unique_lock<std::mutex>> exclusive(const std::optional<CancelToken>& cancel);
  // Does not wait: the lock owns nothing if another thread makes such a call.
  std::unique_lock<std::mutex> try_exclusive() { return std::unique_lock(calls_, std::try_to_lock); }

  // Runs open::check_device() under exclusive().
  Result<load::DeviceCheck> check(const std::string& device, const load::CallOptions& options);

  // Returns true if a device was lost: later opens get a new engine.
  bool is_spoiled() const { return *spoiled_; }

 private:
  std::mutex calls_, reporting_;
  std::unique_ptr<OpenContext> context_;
  Outcome outcome_;
  std::string preferred_device_, basis_;
  std::vector<std::string> device_names_;
  std::optional<std::string> report_;
  std::shared_ptr<load::Health> health_;
  std::shared_ptr<std::atomic<bool>> spoiled_ = std::make_shared<std::atomic<bool>>(false);
  std::size_t listener_ = 0;
};

using AskedSettings = std::function<const settings::Settings&()>;

// The parts of an open. The functions are called only if no engine is open for the key.
struct SharedRequest {
  std::string key;  // equal for requests with the same flags and parts
  std::function<settings::FlagValues()> flags;
  // The settings are for callbacks during the open, because they may not have been read before.
  std::function<OpenRequest(AskedSettings)> request;
  std::optional<CancelToken> cancel;
};

// Returns the engine that an equal request opened and this process still holds, else opens one.
//
// An engine is shared only while the environment, the installed builds and their records are unchanged. All
// other dependencies are checked through the cached decision, if the last check is more than a second old. A
// thread that asks while another opens the same request waits and gets that engine.
//
// Errors: those of load_settings() and of open_engine(). Thread safety: any thread.
Result<std::shared_ptr<SharedEngine>> open_shared(const SharedRequest& request);

}  // namespace enginehost::open
