// Tensors in an engine's own memory, over its engine.tensor/1.
#pragma once
#include "base/result.hpp"
#include "host/load/in_process/call.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/results.hpp"

namespace enginehost::load {

// One of this type and shape on `like`'s device, not filled in; its data, offset and strides are not looked
// at. The engine must have the table. EH-E01 for what the plugin says, or gives that is no tensor.
Result<OwnedTensor> create_tensor(Engine& engine, engine_tensor like, const CallOptions& options);

// Between devices of the engine, or one of them and host memory. The engine must have the table.
Result<void> copy_tensor(Engine& engine, const engine_tensor& from, const engine_tensor& to,
                         const CallOptions& options);

}  // namespace enginehost::load
