// A session whose nodes compute on a device other than the CPU, and the measurement that they did.
#pragma once
#include "engines/onnxruntime/model.hpp"

namespace enginehost::engines::onnxruntime {

// Configures a session on `device`, which the engine has. The runtime may fall back to the CPU only if an
// option of the model allows it. Throws a Failure that names the library that a provider lacks.
void compute_on(engine_instance& engine, OrtSessionOptions* options, engine_device device, engine_call* call);

// After the first run of a model whose placement is measured: reports to the host where its nodes ran. Throws
// when a device was requested, no fallback was allowed, and some nodes ran elsewhere.
void report_placement(engine_model& model, engine_call* call);

}  // namespace enginehost::engines::onnxruntime
