// Every function of a table goes through `catch_all`.
#pragma once
#include "engines/support/failure.hpp"

namespace enginehost::engines::onnxruntime {

inline constexpr const char* origin = "onnxruntime";

template <class Body>
engine_status catch_all(engine_call* call, Body&& body) noexcept {
  return engines::catch_all(origin, "ONNX Runtime", call, body);
}

}  // namespace enginehost::engines::onnxruntime
