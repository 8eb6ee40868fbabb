// A loaded TensorFlow: where it was found and its functions.
#pragma once
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engines/tensorflow/c_api.hpp"
#include "engines/tensorflow/failure.hpp"

namespace enginehost::engines::tensorflow {

// What create() was told of the library; nullptr: not told.
struct Wanted {
  const char* library = nullptr;  // view path
  const char* python = nullptr;   // name of the library of Python that this one needs (2.10 and before)
};

// Shared by all engines of one process that use the same library file; [any].
class Runtime {
 public:
  // Loads the library below `host->root`, or takes the one that is loaded from that file already. Reports
  // details to `call` before it throws a Failure.
  static std::shared_ptr<Runtime> open(const engine_host* host, const Wanted& wanted, engine_call* call);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Api* operator->() const { return &api_; }
  const std::string& path() const { return path_; }
  // The kinds of operations without state; read on first use.
  const std::set<std::string>& stateless() const;

 private:
  Runtime() = default;

  Api api_{};
  std::string path_;
  mutable std::once_flag listed_;
  mutable std::set<std::string> stateless_;
};

// TF_Status for one call. `otherwise` is what an error code means here that has no meaning of its own.
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

// A graph and the session over it. TensorFlow's device for graphs is the CPU here, whatever the build has:
// the configuration says "no GPU" before anything could take one.
class Session {
 public:
  // Over an empty graph, to which operations are added.
  Session(std::shared_ptr<Runtime> runtime, const std::string& threads);
  // Over a SavedModel; `meta_graph` gets its MetaGraphDef.
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
