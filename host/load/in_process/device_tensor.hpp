// Tensors in an engine's own memory, through its engine.tensor/1 table.
#pragma once
#include "base/result.hpp"
#include "host/load/in_process/call.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/results.hpp"

namespace enginehost::load {

// Creates an uninitialized tensor of this type and shape on `like`'s device; ignores the data, offset and
// strides of `like`. The engine must have the table. EH-E01 for what the plugin reports, or when what it
// gives is no tensor.
Result<OwnedTensor> create_tensor(Engine& engine, engine_tensor like, const CallOptions& options);

// Copies between devices of the engine, or between one of them and host memory. The engine must have the
// table.
Result<void> copy_tensor(Engine& engine, const engine_tensor& from, const engine_tensor& to,
                         const CallOptions& options);

}  // namespace enginehost::load
