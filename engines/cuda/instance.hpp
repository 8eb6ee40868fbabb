#pragma once
#include <list>

#include "engines/cuda/devices.hpp"
#include "engines/cuda/session.hpp"
#include "engines/support/tensor.hpp"

struct engine_instance {
  const engine_host* host;
  enginehost::engines::cuda::Devices devices;
  enginehost::engines::cuda::Settings settings;
  // One for each device, made at first use; operations of one engine never overlap (engine.op/1).
  std::vector<std::unique_ptr<enginehost::engines::cuda::Session>> sessions;
  std::list<std::string> texts;  // storage that the facts point into
  std::vector<engine_entry> facts;
};

namespace enginehost::engines::cuda {

extern const engine_device_v1 device_table;
extern const engine_tensor_v1 tensor_table;
extern const engine_op_v1 operation_table;
extern const engine_selftest_v1 selftest_table;

// Throws a Failure if the device does not open.
Session& session_on(int device, engine_instance* engine);

}  // namespace enginehost::engines::cuda
