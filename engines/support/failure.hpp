// Errors inside an adapter are exceptions, which every entry point catches.
#pragma once
#include <exception>
#include <new>
#include <string>

#include "engines/support/text.hpp"

namespace enginehost::engines {

struct Failure {
  engine_status status;
  std::string message;
  int64_t native = 0;  // the library's own error code; 0 if it has none
};

// Runs `body`; an exception becomes a report and a status. `origin` is the engine's name in manifests, to
// which `native` belongs; `name` is the library's name for people.
template <class Body>
engine_status catch_all(const char* origin, const char* name, engine_call* call, Body&& body) noexcept {
  try {
    body();
    return ENGINE_OK;
  } catch (const Failure& failure) {
    return call->fail(call, failure.status, failure.native != 0 ? origin : "", failure.native,
                      failure.message.c_str());
  } catch (const std::bad_alloc&) {
    return refuse(call, ENGINE_NO_MEMORY, "", Text{} << "The adapter for " << name << " is out of memory.");
  } catch (const std::exception& error) {
    return call->fail(call, ENGINE_INTERNAL, "", 0, error.what());
  } catch (...) {
    return refuse(call, ENGINE_INTERNAL, "", Text{} << name << " threw something that is no exception.");
  }
}

}  // namespace enginehost::engines
