// How an error travels inside this adapter: as an exception, up to the entry point, which walls it in.
#pragma once
#include <exception>
#include <new>
#include <string>

#include "engines/support/text.hpp"

namespace enginehost::engines::mxnet {

inline constexpr const char* origin = "mxnet";

struct Failure {
  engine_status status;
  std::string message;
  int64_t native = 0;
};

// Runs `body`; whatever it throws becomes a report and a status. Every function of a table goes through here.
template <class Body>
engine_status walled(engine_call* call, Body&& body) noexcept {
  try {
    body();
    return ENGINE_OK;
  } catch (const Failure& failure) {
    return call->fail(call, failure.status, failure.native != 0 ? origin : "", failure.native,
                      failure.message.c_str());
  } catch (const std::bad_alloc&) {
    return call->fail(call, ENGINE_NO_MEMORY, "", 0, "The adapter for MXNet is out of memory.");
  } catch (const std::exception& error) {
    return call->fail(call, ENGINE_INTERNAL, "", 0, error.what());
  } catch (...) {
    return call->fail(call, ENGINE_INTERNAL, "", 0, "MXNet threw something that is no exception.");
  }
}

}  // namespace enginehost::engines::mxnet
