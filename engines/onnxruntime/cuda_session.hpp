// A session whose nodes compute on a CUDA device, and the proof that they did.
#pragma once
#include "engines/onnxruntime/model.hpp"

namespace enginehost::engines::onnxruntime {

// The settings of a session on cuda:`index`. The runtime may not fall back to the CPU unless an option of the
// model says so. Throws a Failure that names the library the provider lacks.
void compute_on_cuda(const Runtime& runtime, OrtSessionOptions* options, int32_t index, engine_call* call);

// After the first run of a model whose placement is measured: tells the host where its nodes ran. Throws when
// a device was asked for, no fallback was allowed, and some ran elsewhere.
void report_placement(engine_model& model, engine_call* call);

}  // namespace enginehost::engines::onnxruntime
