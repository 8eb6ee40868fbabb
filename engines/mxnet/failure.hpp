// Every function of a table goes through `catch_all`.
#pragma once
#include "engines/support/failure.hpp"

namespace enginehost::engines::mxnet {

inline constexpr const char* origin = "mxnet";

template <class Body>
engine_status catch_all(engine_call* call, Body&& body) noexcept {
  return engines::catch_all(origin, "MXNet", call, body);
}

}  // namespace enginehost::engines::mxnet
