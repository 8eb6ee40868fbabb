// Which device a call means: the one rule for every function of the API that takes a device.
#pragma once
#include <cstddef>

#include "base/result.hpp"
#include "host/sdk/handles.hpp"

namespace enginehost::sdk {

// The number of the device among the engine's, as enginehost.h describes at
// enginehost_engine_choose_device(); `wanted` may be NULL. EH-S09 ("device", "offered", "other_build",
// "cuda_visible_devices") when none is there.
Result<std::size_t> chosen_device(const enginehost_engine& engine, const char* wanted);

}  // namespace enginehost::sdk
