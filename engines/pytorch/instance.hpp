#pragma once
#include <list>
#include <string>
#include <vector>

#include "engines/pytorch/devices.hpp"
#include "engines/support/tensor.hpp"

struct engine_instance {
  const engine_host* host;
  std::vector<enginehost::engines::Device> devices;
  std::list<std::string> texts;  // storage that the facts point into
  std::vector<engine_entry> facts;
};

namespace enginehost::engines::pytorch {

extern const engine_device_v1 device_table;
extern const engine_tensor_v1 tensor_table;
extern const engine_op_v1 operation_table;
extern const engine_model_v1 model_table;
extern const engine_selftest_v1 selftest_table;

}  // namespace enginehost::engines::pytorch
