// Every function of a table goes through `walled`.
#pragma once
#include "engines/support/failure.hpp"

namespace enginehost::engines::mxnet {

inline constexpr const char* origin = "mxnet";

template <class Body>
engine_status walled(engine_call* call, Body&& body) noexcept {
  return walled_in(origin, "MXNet", call, body);
}

}  // namespace enginehost::engines::mxnet
