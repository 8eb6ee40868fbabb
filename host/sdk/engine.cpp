#include <enginehost/enginehost.h>

#include <cstddef>
#include <string>

#include "host/sdk/handles.hpp"

namespace sdk = enginehost::sdk;
using enginehost::Result;

namespace {

// The fields that every caller's struct has. Later fields are filled in only if they fit.
constexpr std::size_t first_device =
    offsetof(enginehost_device, memory_free) + sizeof(enginehost_device::memory_free);
constexpr std::size_t first_check = offsetof(enginehost_check, reopened) + sizeof(enginehost_check::reopened);

// Created on demand, because few callers need it and it evaluates every candidate.
const char* report_of(const enginehost_engine& engine) noexcept {
  try {
    return engine.shared->report().c_str();
  } catch (...) {
    return "{}";
  }
}

}  // namespace

void enginehost_engine_free(enginehost_engine* engine) noexcept { sdk::free_handle(engine); }

const char* enginehost_engine_report(const enginehost_engine* engine) noexcept {
  return engine != nullptr && engine->is_of_this_process() ? report_of(*engine) : "{}";
}

const char* enginehost_engine_build(const enginehost_engine* engine) noexcept {
  return engine != nullptr ? engine->shared->opened().installed.build.c_str() : "";
}

const char* enginehost_engine_flavor(const enginehost_engine* engine) noexcept {
  return engine != nullptr ? engine->shared->opened().installed.flavor.c_str() : "";
}

int32_t enginehost_engine_is_fallback(const enginehost_engine* engine) noexcept {
  return engine != nullptr && engine->shared->outcome().fallback ? 1 : 0;
}

size_t enginehost_engine_device_count(const enginehost_engine* engine) noexcept {
  return engine != nullptr ? engine->shared->opened().devices.size() : 0;
}

namespace enginehost::sdk {

Result<void> describe(const enginehost_engine& engine, std::size_t number, enginehost_device* out) {
  if (out == nullptr || out->size < first_device)
    return fail(sdk::wrong_argument("out", "it is NULL or its size is not set"));
  const auto& devices = engine.shared->opened().devices;
  if (number >= devices.size())
    return fail(enginehost::diagnose(Code::number_out_of_range)
                    .with(Key::number, std::to_string(number))
                    .with(Key::count, std::to_string(devices.size()))
                    .with(Key::of, "devices"));
  const load::Device& device = devices[number];
  out->name = engine.shared->device_names()[number].c_str();
  out->description = device.name.c_str();
  out->architecture = device.architecture.c_str();
  out->type = device.id.type;
  out->index = device.id.index;
  out->memory_total = device.memory_total;
  out->memory_free = device.memory_free;
  return {};
}

}  // namespace enginehost::sdk

enginehost_status enginehost_engine_device(const enginehost_engine* engine, size_t number,
                                           enginehost_device* out, enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    return sdk::describe(*engine, number, out);
  });
}

enginehost_status enginehost_engine_self_test(enginehost_engine* engine, int32_t level, const char* device,
                                              enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    if (level < ENGINE_SELFTEST_LIBRARIES || level > ENGINE_SELFTEST_GRAPH)
      return fail(
          sdk::wrong_argument("level", "it is " + std::to_string(level) + ", and the levels are 0, 1 and 2"));
    enginehost::open::SharedEngine& shared = *engine->shared;
    TRY_ASSIGN(const std::size_t number, sdk::chosen_device(*engine, device));
    TRY_ASSIGN(const auto alone, shared.exclusive({}));
    return shared.engine().self_test(level, shared.opened().devices[number].id);
  });
}

enginehost_status enginehost_engine_check(enginehost_engine* engine, const char* device,
                                          const enginehost_cancel* cancel, enginehost_check* out,
                                          enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    if (out == nullptr || out->size < first_check)
      return fail(sdk::wrong_argument("out", "it is NULL or its size is not set"));
    const enginehost::load::CallOptions call = sdk::call_with(cancel);
    TRY_ASSIGN(const std::size_t number, sdk::chosen_device(*engine, device));
    TRY_ASSIGN(const enginehost::load::DeviceCheck check,
               engine->shared->check(engine->shared->device_names()[number], call));
    engine->checked_device = check.device;
    engine->computed_on = check.computed_on;
    out->device = engine->checked_device.c_str();
    out->computed_on = engine->computed_on.c_str();
    out->milliseconds = check.milliseconds;
    out->cpu_milliseconds = check.cpu_milliseconds;
    out->memory_total = check.memory_total;
    out->memory_free = check.memory_free;
    out->reopened = check.reopened ? 1 : 0;
    return {};
  });
}
