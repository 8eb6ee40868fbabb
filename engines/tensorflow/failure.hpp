// Every function of a table goes through `catch_all`.
#pragma once
#include "engines/support/failure.hpp"

namespace enginehost::engines::tensorflow {

inline constexpr const char* origin = "tensorflow";

template <class Body>
engine_status catch_all(engine_call* call, Body&& body) noexcept {
  return engines::catch_all(origin, "TensorFlow", call, body);
}

}  // namespace enginehost::engines::tensorflow
