// Engines that this process has open, so that asking for one again costs next to nothing.
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
#include "host/open/device_check.hpp"
#include "host/open/open.hpp"
#include "host/open/open_context.hpp"

namespace enginehost::open {

// An open engine and what led to it, held by everyone who opened it by the same request. Const use from any
// thread; the plugin's calls that may not overlap on one engine go through exclusive().
class SharedEngine {
 public:
  // `preferred_device`: of the settings.
  SharedEngine(std::unique_ptr<OpenContext> context, Outcome outcome, std::string preferred_device);
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;
  ~SharedEngine();

  const Outcome& outcome() const { return outcome_; }
  const Opened& opened() const { return *outcome_.opened; }
  // check() may put another in its place: ask while you hold exclusive().
  load::Engine& engine() const { return *outcome_.opened->engine; }
  // What its calls have shown; the same for as long as this object lives. A lost device ends the sharing.
  const std::shared_ptr<load::Health>& health() const { return health_; }
  const std::vector<std::string>& device_names() const { return device_names_; }

  // The configured preference: "cuda:1,cpu", or "" for none.
  const std::string& preferred_device() const { return preferred_device_; }

  // The contract's document, made when it is first asked for; then it stays. Any thread.
  const std::string& report();

  // Waits until no one else makes such a call on this engine; EH-P10 when canceled before that.
  Result<std::unique_lock<std::mutex>> exclusive(const std::optional<CancelToken>& cancel);
  // Without waiting: owns nothing when someone makes such a call.
  std::unique_lock<std::mutex> try_exclusive() { return std::unique_lock(calls_, std::try_to_lock); }

  // As open::check_device(), alone on this engine.
  Result<load::DeviceCheck> check(const std::string& device, const load::CallOptions& options);

  // A device was lost: whoever opens from now on gets an engine of his own.
  bool is_spoiled() const { return *spoiled_; }

 private:
  std::mutex calls_, reporting_;
  std::unique_ptr<OpenContext> context_;
  Outcome outcome_;
  std::string preferred_device_;
  std::vector<std::string> device_names_;
  std::optional<std::string> report_;
  std::shared_ptr<load::Health> health_;
  std::shared_ptr<std::atomic<bool>> spoiled_ = std::make_shared<std::atomic<bool>>(false);
  std::size_t listener_ = 0;
};

using AskedSettings = std::function<const settings::Settings&()>;

// How an open is asked for; the functions are called only when the engine is not open already.
struct SharedRequest {
  std::string key;  // equal for requests that mean the same: every flag and every part of the request
  std::function<settings::FlagValues()> flags;
  // The settings are for callbacks, while the engine is opened: they may not have been read yet.
  std::function<OpenRequest(AskedSettings)> request;
  std::optional<CancelToken> cancel;
};

// The engine that this process opened by the same request and still holds, else a new one. It is shared only
// while the environment, the installed builds and their records are the same; whatever else decides is looked
// at again, by its cached decision, when the last look is more than a second ago. Who asks while another
// thread opens by the same request waits for it and gets its engine. Failures are those of load_settings()
// and of open_engine(). Any thread.
Result<std::shared_ptr<SharedEngine>> open_shared(const SharedRequest& request);

}  // namespace enginehost::open
