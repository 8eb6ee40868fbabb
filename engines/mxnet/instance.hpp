#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/mxnet/predictor.hpp"

struct engine_instance {
  const engine_host* host;
  std::shared_ptr<enginehost::engines::mxnet::Runtime> runtime;
  // Single operations are networks of one node, cached by types and shapes.
  std::map<std::string, std::unique_ptr<enginehost::engines::mxnet::Prepared>> operations;
  std::vector<engine_entry> facts;
};

namespace enginehost::engines::mxnet {

extern const engine_op_v1 operation_table;
extern const engine_model_v1 model_table;
extern const engine_selftest_v1 selftest_table;

}  // namespace enginehost::engines::mxnet
