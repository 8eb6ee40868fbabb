// A loaded TensorFlow: its file and its functions.
#pragma once
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

// A graph and a session over it. It always computes on the CPU, whatever the build supports: the
// configuration excludes GPUs before anything could use one.
class Session {
 public:
  // Creates an empty graph, to which operations are added.
  Session(std::shared_ptr<Runtime> runtime, const std::string& threads);
  // Loads a SavedModel; `meta_graph` receives its MetaGraphDef.
  Session(std::shared_ptr<Runtime> runtime, const std::string& threads, const char* folder,
          const std::vector<std::string>& tags, std::string& meta_graph);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  TF_Graph* graph() const { return graph_; }
  TF_Session* get() const { return session_; }

 private:
  void make_graph();

  std::shared_ptr<Runtime> runtime_;
  TF_Graph* graph_ = nullptr;
  TF_Session* session_ = nullptr;
};

}  // namespace enginehost::engines::tensorflow
