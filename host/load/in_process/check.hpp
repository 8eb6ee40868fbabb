// A small computation on a device: what it takes, and where the engine says that it was done.
#pragma once
#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/load/in_process/engine.hpp"

namespace enginehost::load {

// What was measured, and no more: the answer was right; `computed_on` is what the engine's own tensor says.
// An engine that computes on the processor and calls the tensor's memory a GPU's is not found out by it; the
// two times side by side are what a person can judge such a one by.
struct DeviceCheck {
  enum class Method { operation, self_test };
  std::string device;                 // that was asked for: "cuda:0"
  Method method = Method::operation;  // self_test: the engine offers no operations
  std::string computed_on;            // "cuda:0"; empty for a self-test, which tells nothing of it
  double milliseconds = 0;            // of one computation, data on the device: the fastest of three
  double cpu_milliseconds = 0;        // of the same on the engine's cpu; 0: not measured
  std::uint64_t memory_total = 0, memory_free = 0;  // asked again; 0: unknown
  bool reopened = false;                            // the device was lost and the engine was made again
};
const char* name_of(DeviceCheck::Method method);

// Multiplies two matrices of 128 x 128 on the device and compares every element; without operations the
// engine's self-test of level 2. EH-R17 when the answer is wrong or lies on another device; EH-E01 what the
// plugin says (a lost device is noted in the engine's health); EH-P10. May not overlap with other work of the
// engine.
Result<DeviceCheck> check_device(Engine& engine, const Device& device, const CallOptions& options = {});

// {"method","computed_on","milliseconds","cpu_milliseconds","memory_free","reopened"}
Json to_json(const DeviceCheck& check);
// "128 x 128 product in 0.21 ms (cpu 1.9 ms), result on cuda:0, 22.8 GiB free"
std::string describe(const DeviceCheck& check);

}  // namespace enginehost::load
