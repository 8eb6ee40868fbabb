// Checks options for adapters that throw their errors. Failure is the adapter's own type, an aggregate that
// begins with a status and a message.
#pragma once
#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "engines/support/text.hpp"

namespace enginehost::engines {

// `who` is "The engine mxnet has", "Models of MXNet have" or "Runs of MXNet have".
template <class Failure>
void allow_options(const char* who, const engine_entry* options, size_t count,
                   std::initializer_list<const char*> known, engine_call* call) {
  const char* key = unknown_option(options, count, known);
  if (key == nullptr) return;
  call->detail(call, "option", key);
  throw Failure{ENGINE_INVALID, std::string(who) + " no option \"" + key + "\"."};
}

// Reads the option "threads"; 0 means the default of `library`.
template <class Failure>
int read_threads(const char* text, const char* library, engine_call* call) {
  char* end = nullptr;
  errno = 0;
  const long count = std::strtol(text, &end, 10);
  if (*text != '\0' && *end == '\0' && errno == 0 && count >= 0 && count <= 4096)
    return static_cast<int>(count);
  call->detail(call, "option", "threads");
  throw Failure{ENGINE_INVALID, std::string("The option threads is a number from 0 (") + library +
                                    "'s choice) to 4096, not \"" + text + "\"."};
}

}  // namespace enginehost::engines
