// What a plugin says of its model, looked at once when it is loaded: everybody reads it without asking again.
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>

namespace enginehost::load {

// What is missing in the description, after "succeeded but gave": "no description of the model". Empty when
// it can be read.
std::string problem_of(const engine_model_info* info);

}  // namespace enginehost::load
