// The choice of a device, the same for every function of the API that takes one.
#pragma once
#include <cstddef>

#include "base/result.hpp"
#include "host/sdk/handles.hpp"

namespace enginehost::sdk {

// Returns the index of the chosen device among the engine's. enginehost.h describes the rule at
// enginehost_engine_choose_device(). `wanted` may be NULL. EH-S09 ("device", "offered", "other_build",
// "cuda_visible_devices") if none matches.
Result<std::size_t> chosen_device(const enginehost_engine& engine, const char* wanted);

}  // namespace enginehost::sdk
