// Device events: for callbacks set at opening, and for watches.
#include <enginehost/enginehost.h>

#include <algorithm>
#include <cstddef>

#include "host/explain/explain.hpp"
#include "host/sdk/handles.hpp"

namespace sdk = enginehost::sdk;
namespace open = enginehost::open;
using enginehost::Result;

namespace enginehost::sdk {

void report(DeviceCallback callback, void* user_data, const load::DeviceEvent& happened) {
  const std::string reason = happened.lost ? explain::one_line(happened.why) : "";
  const enginehost_error error = happened.lost ? error_of(happened.why) : enginehost_error();
  enginehost_device_event event{};
  event.size = sizeof event;
  event.device = happened.device.c_str();
  event.lost = happened.lost ? 1 : 0;
  const std::string code(happened.why.code_text());
  event.code = code.c_str();
  event.reason = reason.c_str();
  event.error = happened.lost ? &error : nullptr;
  callback(&event, user_data);
}

}  // namespace enginehost::sdk

namespace {

constexpr std::uint32_t default_interval = 30'000, shortest_interval = 100;
constexpr std::chrono::milliseconds signs_interval{1'000};

// Returns the named device; all except the CPU if none is named.
Result<std::vector<enginehost::load::Device>> devices_of(const enginehost_engine& engine,
                                                         const char* wanted) {
  const std::vector<enginehost::load::Device>& all = engine.shared->opened().devices;
  std::vector<enginehost::load::Device> devices;
  if (wanted != nullptr && *wanted != '\0') {
    TRY_ASSIGN(const std::size_t number, sdk::chosen_device(engine, wanted));
    devices.push_back(all[number]);
    return devices;
  }
  for (const enginehost::load::Device& device : all)
    if (device.id.type != ENGINE_CPU) devices.push_back(device);
  return devices;
}

}  // namespace

enginehost_status enginehost_engine_watch(enginehost_engine* engine, const enginehost_watch* watch,
                                          enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    constexpr std::size_t whole = offsetof(enginehost_watch, on_device) + sizeof(watch->on_device);
    if (watch != nullptr && watch->size < whole)
      return fail(sdk::wrong_argument("watch.size", "it is not set (ENGINEHOST_WATCH_INIT sets it)"));
    if (watch != nullptr && watch->on_device == nullptr)
      return fail(sdk::wrong_argument("watch.on_device", "it is NULL"));
    std::unique_ptr<open::DeviceWatch> next;
    if (watch != nullptr) {
      open::WatchOptions options;
      TRY_ASSIGN(options.devices, devices_of(*engine, watch->device));
      options.interval = std::chrono::milliseconds(
          std::max(watch->interval_ms != 0 ? watch->interval_ms : default_interval, shortest_interval));
      options.signs_interval = std::min(signs_interval, options.interval);
      options.reported = [callback = watch->on_device,
                          user_data = watch->user_data](const enginehost::load::DeviceEvent& event) {
        sdk::report(callback, user_data, event);
      };
      // A CPU-only engine has no device that can be lost, and needs no thread.
      if (!options.devices.empty())
        next = std::make_unique<open::DeviceWatch>(engine->shared, std::move(options));
    }
    engine->watch.swap(next);
    next.reset();
    if (engine->watch) engine->watch->start();
    return {};
  });
}
