#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/mxnet/predictor.hpp"
#include "engines/support/cuda_devices.hpp"

struct engine_instance {
  const engine_host* host = nullptr;
  std::shared_ptr<enginehost::engines::mxnet::Runtime> runtime;
  enginehost::engines::Devices devices;
  // Single operations are networks of one node on one device, cached by types and shapes.
  engine_device operations_on{ENGINE_CPU, 0};
  std::map<std::string, std::unique_ptr<enginehost::engines::mxnet::Prepared>> operations;
  std::vector<engine_entry> facts;
};

namespace enginehost::engines::mxnet {

extern const engine_device_v1 device_table;
extern const engine_op_v1 operation_table;
extern const engine_model_v1 model_table;
extern const engine_selftest_v1 selftest_table;

}  // namespace enginehost::engines::mxnet
