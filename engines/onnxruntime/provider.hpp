// The execution provider that a build has beside the runtime's CPU and CUDA.
#pragma once
#include "engines/onnxruntime/instance.hpp"

namespace enginehost::engines::onnxruntime {

// Adds the provider's devices to those of `engine`. `kind` names them: the option onnxruntime.provider,
// nullptr for a build without one. `library` is the view path of the provider's library; nullptr if the
// runtime's own library holds the provider. Throws a Failure with the reason if there is no device.
void add_provider(engine_instance& engine, const char* kind, const char* library, engine_call* call);

// Returns "cuda:0", and "ggml:0" for a device of the provider.
std::string name_of(const engine_instance& engine, engine_device device);

// True for devices whose tensors this adapter holds: the CPU, and those of the provider, in host memory too.
bool is_reached(const engine_instance& engine, engine_device device);

// Throws a Failure if the build has a provider, and `device` is none of the build's.
void require_own_device(const engine_instance& engine, engine_device device, engine_call* call);

// Configures a session on device `index` of the provider.
void compute_on_provider(engine_instance& engine, OrtSessionOptions* options, int32_t index,
                         engine_call* call);

}  // namespace enginehost::engines::onnxruntime
