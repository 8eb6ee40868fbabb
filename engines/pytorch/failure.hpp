// Errors inside this adapter are exceptions, which every entry point catches.
#pragma once
#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>

#include "engines/support/text.hpp"

namespace enginehost::engines::pytorch {

inline constexpr const char* origin = "pytorch";

struct Failure {
  engine_status status;
  std::string message;
};

// True if a message of libtorch means that a device no longer responds. Such CUDA errors persist in the
// process (CUDA Runtime API, cudaError: 214, 700, 710, 713 to 719, 999).
bool reports_a_lost_device(const std::string& message);

// Runs `body`; an exception becomes a report and a status. Every function of a table uses it. `otherwise` is
// the status for errors of libtorch that have no status of their own.
template <class Body>
engine_status catch_all(engine_call* call, engine_status otherwise, Body&& body) noexcept {
  try {
    body();
    return ENGINE_OK;
  } catch (const Failure& failure) {
    return call->fail(call, failure.status, "", 0, failure.message.c_str());
  } catch (const c10::OutOfMemoryError& error) {
    return call->fail(call, ENGINE_NO_MEMORY, origin, 0, error.what_without_backtrace());
  } catch (const c10::NotImplementedError& error) {
    return call->fail(call, ENGINE_UNSUPPORTED, origin, 0, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    const char* message = error.what_without_backtrace();
    engine_status status = reports_a_lost_device(message) ? ENGINE_LOST : otherwise;
    // Up to 2.0 this is a plain Error too: the kernel has no code for the type.
    if (std::strstr(message, "not implemented for '") != nullptr) status = ENGINE_UNSUPPORTED;
    // The allocator for host memory throws a plain Error.
    if (std::strstr(message, "DefaultCPUAllocator: can't allocate") != nullptr) status = ENGINE_NO_MEMORY;
    return call->fail(call, status, origin, 0, message);
  } catch (const std::bad_alloc&) {
    return call->fail(call, ENGINE_NO_MEMORY, "", 0, "The adapter for PyTorch is out of memory.");
  } catch (const std::exception& error) {
    return call->fail(call, otherwise, origin, 0, error.what());
  } catch (...) {
    return call->fail(call, ENGINE_INTERNAL, "", 0, "libtorch threw something that is no exception.");
  }
}

}  // namespace enginehost::engines::pytorch
