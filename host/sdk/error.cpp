#include <enginehost/enginehost.h>

#include <cstdlib>
#include <cstring>

#include "host/explain/explain.hpp"
#include "host/sdk/handles.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::sdk {

enginehost_error error_of(const Diagnosis& diagnosis) {
  Diagnosis complete = diagnosis;
  explain::complete(complete);
  return {complete.code, complete.title, complete.cause, explain::describe(complete),
          explain::to_json(complete).dump()};
}

enginehost_status report(const Diagnosis& diagnosis, enginehost_error** error) noexcept {
  enginehost_status status = ENGINEHOST_BUG;
  try {
    status = static_cast<enginehost_status>(explain::exit_status(diagnosis));
    if (error != nullptr) *error = new enginehost_error(error_of(diagnosis));
  } catch (...) {
    // Out of memory while telling of a failure: the status is all there is.
  }
  return status == ENGINEHOST_OK ? ENGINEHOST_BUG : status;
}

char* copy_text(const std::string& text) noexcept {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace enginehost::sdk

const char* enginehost_version(void) noexcept { return ENGINEHOST_VERSION; }

const char* enginehost_error_code(const enginehost_error* error) noexcept {
  return error ? error->code.c_str() : "";
}
const char* enginehost_error_title(const enginehost_error* error) noexcept {
  return error ? error->title.c_str() : "";
}
const char* enginehost_error_cause(const enginehost_error* error) noexcept {
  return error ? error->cause.c_str() : "";
}
const char* enginehost_error_text(const enginehost_error* error) noexcept {
  return error ? error->text.c_str() : "";
}
const char* enginehost_error_json(const enginehost_error* error) noexcept {
  return error ? error->json.c_str() : "{}";
}
void enginehost_error_free(enginehost_error* error) noexcept { delete error; }

enginehost_cancel* enginehost_cancel_new(void) noexcept {
  try {
    return new enginehost_cancel;
  } catch (...) {
    return nullptr;
  }
}
void enginehost_cancel_now(enginehost_cancel* cancel) noexcept {
  if (cancel != nullptr) cancel->token.cancel();
}
void enginehost_cancel_free(enginehost_cancel* cancel) noexcept { delete cancel; }

void enginehost_text_free(char* text) noexcept { std::free(text); }
