// A saved network is two files: NAME-symbol.json and NAME-0000.params, the digits being the epoch of its
// training.
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>

#include "engines/mxnet/predictor.hpp"

namespace enginehost::engines::mxnet {

// Returns the parameter file that belongs to the symbol file `path`: `wanted` beside it if not nullptr, else
// the one of the highest epoch; "" if there is none.
std::string parameter_file(const std::string& path, const char* wanted);

// Reads both files. Throws a Failure (ENGINE_INVALID) that names an unreadable file.
Network read_network(const char* path, const char* wanted, engine_call* call);

}  // namespace enginehost::engines::mxnet
