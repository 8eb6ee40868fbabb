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
  const explain::Rendered whole = explain::render(diagnosis);
  return {std::string(whole.code_text()), whole.title, whole.cause, explain::describe(whole),
          explain::to_json(diagnosis).dump()};
}

enginehost_status report(const Diagnosis& diagnosis, enginehost_error** error) noexcept {
  enginehost_status status = diagnosis.code == Code::out_of_memory
                                 ? static_cast<enginehost_status>(explain::ExitStatus::cache)
                                 : ENGINEHOST_BUG;
  try {
    status = static_cast<enginehost_status>(explain::exit_status(diagnosis));
    if (error != nullptr) *error = new enginehost_error(error_of(diagnosis));
  } catch (...) {
    // Out of memory while reporting a failure: only the status remains.
  }
  return status == ENGINEHOST_OK ? ENGINEHOST_BUG : status;
}

enginehost_status report_thrown(enginehost_error** error) noexcept {
  try {
    try {
      throw;
    } catch (const CallbackThrew& threw) {
      const std::string what = threw.what.empty() ? "" : " (" + threw.what + ")";
      return report(
          wrong_argument(threw.callback, "it threw an exception" + what + "; callbacks must not throw"),
          error);
    } catch (const std::exception& thrown) {
      return report(explain::of_exception(thrown), error);
    } catch (...) {
      return report(
          std::move(diagnose(Code::bug).with(Key::problem, "something that is no std::exception was thrown")),
          error);
    }
  } catch (...) {
    return ENGINEHOST_BUG;
  }
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

void enginehost_text_free(char* text) noexcept { std::free(text); }
