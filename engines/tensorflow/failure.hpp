// Every function of a table goes through `walled`.
#pragma once
#include "engines/support/failure.hpp"

namespace enginehost::engines::tensorflow {

inline constexpr const char* origin = "tensorflow";

template <class Body>
engine_status walled(engine_call* call, Body&& body) noexcept {
  return walled_in(origin, "TensorFlow", call, body);
}

}  // namespace enginehost::engines::tensorflow
