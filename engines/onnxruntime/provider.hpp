// The execution provider that a build has beside the runtime's CPU and CUDA.
#pragma once
#include "engines/onnxruntime/instance.hpp"

namespace enginehost::engines::onnxruntime {

// Adds the provider's devices to those of `engine`. `kind` names them: the option onnxruntime.provider,
// nullptr for a build without one. `library` is the view path of the provider's library; nullptr if the
// runtime's own library holds the provider. Throws a Failure with the reason if there is no device.
void add_provider(engine_instance& engine, const char* kind, const char* library, engine_call* call);

// Configures a session on device `index` of the provider.
void compute_on_provider(engine_instance& engine, OrtSessionOptions* options, int32_t index,
                         engine_call* call);

}  // namespace enginehost::engines::onnxruntime
