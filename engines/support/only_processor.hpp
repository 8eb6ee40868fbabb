// Functions for an engine whose only device is cpu:0. Needs libc only.
#pragma once
#include "engines/support/tensor.hpp"

namespace enginehost::engines {

inline uint32_t one_device(engine_instance*) noexcept { return 1; }

// Fills `out` from `info`, as far as the caller's struct reaches; sets kind and device itself.
inline engine_status report_processor(const char* origin, uint32_t number, engine_device_info info,
                                      engine_device_info* out, engine_call* call) {
  if (number != 0) {
    return refuse(call, ENGINE_INVALID, origin,
                  Text{} << "There is one device, and number " << int64_t{number} << " was requested.");
  }
  info.size = out->size;
  info.device = {ENGINE_CPU, 0};
  info.kind = "cpu";
  std::memcpy(static_cast<void*>(out), &info, out->size < sizeof info ? out->size : sizeof info);
  return ENGINE_OK;
}

// First step of every self-test: ENGINE_OK, or the refusal of another device or of a canceled call.
inline engine_status may_test(const char* origin, engine_device device, engine_call* call) {
  if (device.type != ENGINE_CPU || device.index != 0) {
    Text text;
    call->detail(call, "device", text.device(device).c_str());
    return refuse(call, ENGINE_INVALID, origin, Text{} << "This engine has only cpu:0.");
  }
  if (call->is_cancelled(call) == 0) return ENGINE_OK;
  return refuse(call, ENGINE_CANCELLED, origin, Text{} << "The self-test was stopped before it began.");
}

}  // namespace enginehost::engines
