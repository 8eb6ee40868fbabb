// The types behind the C API's handles.
#pragma once
#include <enginehost/engine_plugin.h>
#include <enginehost/enginehost.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/per_process.hpp"
#include "base/result.hpp"
#include "host/load/in_process/model.hpp"
#include "host/load/in_process/tensors.hpp"
#include "host/open/device_watch.hpp"
#include "host/open/shared.hpp"
#include "host/sdk/call_queue.hpp"

struct enginehost_error {
  std::string code, title, cause, text, json;
};

namespace enginehost::sdk {

class CancelUse;

// A handle works in the process that made it. In a child of fork(), its locks may be held by threads that the
// child lacks, and its engine's threads and devices are gone.
class OfProcess {
 public:
  bool is_of_this_process() const { return process_ == generation_of_process(); }

 private:
  unsigned process_ = generation_of_process();
};

// Does nothing in a child of the process that made the handle.
template <class Handle>
void free_handle(const Handle* handle) {
  if (handle != nullptr && handle->is_of_this_process()) delete handle;
}

}  // namespace enginehost::sdk

struct enginehost_cancel : enginehost::sdk::OfProcess {
  std::shared_ptr<enginehost::sdk::CancelUse> use;
  enginehost::CancelToken token;  // the token of its tree
};

struct enginehost_engine : enginehost::sdk::OfProcess {
  // Other handles of this process may share it.
  std::shared_ptr<enginehost::open::SharedEngine> shared;
  std::string checked_device, computed_on;           // strings of the last check by this handle
  std::string default_device;                        // set by the application; empty: as requested
  std::string requested_device;                      // in the request; empty: as configured
  std::shared_ptr<enginehost::load::Health> health;  // the application's callback is registered here
  std::size_t listener = 0;
  std::shared_ptr<enginehost::load::EngineLog> log;  // the log callback is registered here
  std::size_t log_listener = 0;
  std::unique_ptr<enginehost::open::DeviceWatch> watch;

  enginehost_engine() = default;
  enginehost_engine(const enginehost_engine&) = delete;
  enginehost_engine& operator=(const enginehost_engine&) = delete;
  ~enginehost_engine() {
    if (health) health->remove_listener(listener);
    if (log) log->remove(log_listener);
  }
};

struct enginehost_model : enginehost::sdk::OfProcess {
  std::unique_ptr<enginehost::load::Model> model;
  enginehost::sdk::CallQueue runs;  // for a model that does not run concurrently
  // Descriptions of inputs and outputs, made once so that returned strings stay valid.
  std::vector<std::string> input_types, output_types;
};

struct enginehost_outputs : enginehost::sdk::OfProcess {
  std::vector<std::unique_ptr<enginehost::load::Output>> outputs;
  std::vector<std::string> names;
};

namespace enginehost::sdk {

// Returns the diagnosis in the form of the API.
enginehost_error error_of(const Diagnosis& diagnosis);

// Calls the application's callback with an event of the engine.
using DeviceCallback = void (*)(const enginehost_device_event* event, void* user_data);
void report(DeviceCallback callback, void* user_data, const load::DeviceEvent& happened);

// Stores the diagnosis in *error and returns its status; never ENGINEHOST_OK.
enginehost_status report(const Diagnosis& diagnosis, enginehost_error** error) noexcept;

// Returns a copy for enginehost_text_free; NULL if out of memory.
char* copy_text(const std::string& text) noexcept;

// An exception of an application's callback, on its way to the API function that was called.
struct CallbackThrew {
  const char* callback;  // "request.on_progress"
  std::string what;      // empty if it is no std::exception
};

// Calls the application. A callback must not throw; an exception is reported as the application's, not as a
// bug of EngineHost.
template <class Ask>
bool ask_application(const char* callback, Ask&& ask) {
  try {
    return ask();
  } catch (const std::exception& thrown) {
    throw CallbackThrew{callback, thrown.what()};
  } catch (...) {
    throw CallbackThrew{callback, ""};
  }
}

// Stores the current exception in *error, from a callback or not, and returns the status. Call it in a catch
// block.
enginehost_status report_thrown(enginehost_error** error) noexcept;

// Runs a body that returns a Result<void>. Exceptions also become a diagnosis.
template <class Body>
enginehost_status guarded(enginehost_error** error, Body&& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    Result<void> done = body();
    return done ? ENGINEHOST_OK : report(done.error(), error);
  } catch (...) {
    return report_thrown(error);
  }
}

// Returns EH-P45: an invalid argument of the C API ("argument", "problem").
inline Diagnosis wrong_argument(const char* argument, std::string_view problem) {
  return std::move(
      diagnose(Code::api_argument_wrong).with(Key::argument, argument).with(Key::problem, problem));
}

// Returns EH-P45 if the pointer is NULL.
inline Result<void> not_null(const char* argument, const void* pointer) {
  if (pointer == nullptr) return fail(wrong_argument(argument, "it is NULL"));
  return {};
}

// Returns EH-P45 if the handle is NULL, and EH-P53 in a child of the process that made it.
template <class Handle>
Result<void> usable(const char* argument, const Handle* handle) {
  TRY(not_null(argument, handle));
  if (!handle->is_of_this_process())
    return fail(diagnose(Code::handle_of_parent_process).with(Key::argument, argument));
  return {};
}

// `cancel` may be NULL.
inline load::CallOptions call_with(const enginehost_cancel* cancel) {
  load::CallOptions call;
  if (cancel != nullptr) call.cancel = cancel->token;
  return call;
}

// Fills in the device of that number. EH-P45, EH-P46.
Result<void> describe(const enginehost_engine& engine, std::size_t number, enginehost_device* out);

// The choice of a device is the same for every function of the API that takes one.
// Returns the index of the chosen device among the engine's. enginehost.h describes the rule at
// enginehost_engine_choose_device(). `wanted` may be NULL. EH-S09 ("device", "offered", "other_build",
// "cuda_visible_devices") if none matches.
Result<std::size_t> chosen_device(const enginehost_engine& engine, const char* wanted);

// Returns the tensor, or an output as one, for an application. Copies nothing. Its deleter does nothing in a
// child of this process. Throws std::bad_alloc.
engine_owned_tensor* give_out(load::OwnedTensor tensor);
engine_owned_tensor* give_out(std::unique_ptr<load::Output> output);

}  // namespace enginehost::sdk
