// Checks a plugin's description of its model once, when the model is loaded. All other code reads it
// unchecked.
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>

namespace enginehost::load {

// Returns what is missing in the description, as the end of "succeeded but gave": "no description of the
// model". Empty when it can be read.
std::string problem_of(const engine_model_info* info);

}  // namespace enginehost::load
