// A small computation on a device: its time, and the device that the engine reports for the result.
#pragma once
#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/load/in_process/engine.hpp"

namespace enginehost::load {

// Result of check_device(). It states no more than was measured: the answer was right, and `computed_on` is
// the device of the engine's own tensor. It cannot detect an engine that computes on the processor and labels
// the tensor's memory as a GPU's. Compare the two times to judge such an engine.
struct DeviceCheck {
  enum class Method { operation, self_test };
  std::string device;                 // the requested device: "cuda:0"
  Method method = Method::operation;  // self_test: the engine offers no operations
  std::string computed_on;            // "cuda:0"; empty for a self-test, which does not report it
  double milliseconds = 0;            // of one computation, data already on the device: the fastest one
  double cpu_milliseconds = 0;        // of the same computation on the engine's cpu; 0: not measured
  std::uint64_t memory_total = 0, memory_free = 0;  // read after the check; 0: unknown
  bool reopened = false;                            // the device was lost and the engine was created again
};
const char* name_of(DeviceCheck::Method method);

// Multiplies two matrices of 128 x 128 on the device and compares every element. Without operations it runs
// the engine's self-test of level 2. Must not overlap with other work of the engine.
// Errors: EH-R17 when the answer is wrong or lies on another device; EH-E01 for what the plugin reports (a
// lost device is recorded in the engine's health); EH-P10.
Result<DeviceCheck> check_device(Engine& engine, const Device& device, const CallOptions& options = {});

// {"method","computed_on","milliseconds","cpu_milliseconds","memory_free","reopened"}
Json to_json(const DeviceCheck& check);
// "128 x 128 product in 0.21 ms (cpu 1.9 ms), result on cuda:0, 22.8 GiB free"
std::string describe(const DeviceCheck& check);

}  // namespace enginehost::load
