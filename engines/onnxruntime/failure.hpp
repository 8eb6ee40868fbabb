// Every function of a table goes through `walled`.
#pragma once
#include "engines/support/failure.hpp"

namespace enginehost::engines::onnxruntime {

inline constexpr const char* origin = "onnxruntime";

template <class Body>
engine_status walled(engine_call* call, Body&& body) noexcept {
  return walled_in(origin, "ONNX Runtime", call, body);
}

}  // namespace enginehost::engines::onnxruntime
