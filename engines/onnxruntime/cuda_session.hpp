// A session whose nodes compute on a CUDA device, and the measurement that they did.
#pragma once
#include "engines/onnxruntime/model.hpp"

namespace enginehost::engines::onnxruntime {

// Configures a session on cuda:`index`. The runtime may fall back to the CPU only if an option of the model
// allows it. Throws a Failure that names the library that the provider lacks.
void compute_on_cuda(const Runtime& runtime, OrtSessionOptions* options, int32_t index, engine_call* call);

// After the first run of a model whose placement is measured: reports to the host where its nodes ran. Throws
// when a device was requested, no fallback was allowed, and some nodes ran elsewhere.
void report_placement(engine_model& model, engine_call* call);

}  // namespace enginehost::engines::onnxruntime
