#pragma once
#include "engines/reference/kernels.hpp"
#include "engines/support/tensor.hpp"

struct engine_instance {
  const engine_host* host;
  const enginehost::engines::reference::Kernels* kernels;
  char processor[64];
  engine_entry facts[2];
};

namespace enginehost::engines::reference {

extern const engine_op_v1 operation_table;
extern const engine_model_v1 model_table;
extern const engine_selftest_v1 selftest_table;

}  // namespace enginehost::engines::reference
