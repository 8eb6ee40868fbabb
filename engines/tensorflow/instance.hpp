#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engines/support/cuda_devices.hpp"
#include "engines/support/tensor.hpp"
#include "engines/tensorflow/runtime.hpp"

struct engine_instance {
  const engine_host* host = nullptr;
  std::string threads;  // "": TensorFlow's default
  std::shared_ptr<enginehost::engines::tensorflow::Runtime> runtime;
  enginehost::engines::Devices devices;
  // One graph for single operations; each is added on first use.
  std::unique_ptr<enginehost::engines::tensorflow::Session> session;
  struct Node {
    std::vector<enginehost::engines::tensorflow::TF_Output> inputs;
    enginehost::engines::tensorflow::TF_Output output;
  };
  std::map<std::string, Node> nodes;
  std::mutex nodes_mutex;
  int tries = 0;  // suffix of node names
  std::vector<engine_entry> facts;
};

namespace enginehost::engines::tensorflow {

extern const engine_device_v1 device_table;
extern const engine_op_v1 operation_table;
extern const engine_model_v1 model_table;
extern const engine_selftest_v1 selftest_table;

}  // namespace enginehost::engines::tensorflow
