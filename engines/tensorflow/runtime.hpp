// A loaded TensorFlow: its file and its functions.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engines/tensorflow/c_api.hpp"
#include "engines/tensorflow/failure.hpp"

namespace enginehost::engines::tensorflow {

// Options of create() about the library; nullptr: not given.
struct Wanted {
  const char* library = nullptr;  // view path
  const char* python = nullptr;   // name of the Python library that this one needs (2.10 and before)
};

// Shared by all engines of one process that use the same library file; [any].
class Runtime {
 public:
  // Loads the library below `host->root`, or uses the one already loaded from that file. Reports details to
  // `call` before it throws a Failure.
  static std::shared_ptr<Runtime> open(const engine_host* host, const Wanted& wanted, engine_call* call);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Api* operator->() const { return &api_; }
  const std::string& path() const { return path_; }
  // True if the library was built with code for GPUs, whether or not this machine has one.
  bool has_gpu_code() const;
  // Returns the kinds of operations without state; read at first use.
  const std::set<std::string>& stateless() const;

 private:
  Runtime() = default;

  Api api_{};
  std::string path_;
  mutable std::once_flag listed_;
  mutable std::set<std::string> stateless_;
};

// A TF_Status for one call. `otherwise` is the status for error codes without a mapping.
class Status {
 public:
  explicit Status(const Runtime& runtime) : runtime_(runtime), status_(runtime->TF_NewStatus()) {
    if (status_ == nullptr) throw std::bad_alloc();
  }
  ~Status() { runtime_->TF_DeleteStatus(status_); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  TF_Status* get() const { return status_; }
  int code() const { return runtime_->TF_GetCode(status_); }
  Failure failure(engine_status otherwise) const;
  void check(engine_status otherwise) const {
    if (code() != 0) throw failure(otherwise);
  }

 private:
  const Runtime& runtime_;
  TF_Status* status_;
};

// Where a session computes. A session on the CPU is configured without GPUs, whatever the build supports. One
// on cuda:N sees that GPU only; TensorFlow still computes what has no code for GPUs on the CPU.
struct Place {
  engine_device device{ENGINE_CPU, 0};
  std::string threads;  // "": TensorFlow's default
};

// A graph and a session over it.
class Session {
 public:
  // Creates an empty graph, to which operations are added.
  Session(std::shared_ptr<Runtime> runtime, const Place& place);
  // Loads a SavedModel; `meta_graph` receives its MetaGraphDef.
  Session(std::shared_ptr<Runtime> runtime, const Place& place, const char* folder,
          const std::vector<std::string>& tags, std::string& meta_graph);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  TF_Graph* graph() const { return graph_; }
  TF_Session* get() const { return session_; }
  engine_device device() const { return device_; }
  // Returns TensorFlow's name of the session's first device of the type "CPU" or "GPU"; "" if it has none.
  std::string device_name(const char* type) const;

  // The first run after this reports where the operations ran. Sessions on a GPU begin so.
  void measure_placement() { unmeasured_ = true; }
  bool take_measurement() const { return unmeasured_.exchange(false); }

 private:
  void make_graph();
  void release() const;
  void require_gpu() const;

  std::shared_ptr<Runtime> runtime_;
  TF_Graph* graph_ = nullptr;
  TF_Session* session_ = nullptr;
  engine_device device_;
  mutable std::atomic<bool> unmeasured_;
};

}  // namespace enginehost::engines::tensorflow
