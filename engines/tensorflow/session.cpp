#include <cstdlib>

#include "engines/tensorflow/protobuf.hpp"
#include "engines/tensorflow/runtime.hpp"

namespace enginehost::engines::tensorflow {
namespace {

// TF_SessionOptions with the ConfigProto (tensorflow/core/protobuf/config.proto) of every session of this
// adapter: device_count 1 { key 1, value 2 }, intra_op_parallelism_threads 2, inter_op_parallelism_threads 5.
class Options {
 public:
  Options(const Runtime& runtime, const std::string& threads)
      : runtime_(runtime), options_(runtime->TF_NewSessionOptions()) {
    if (options_ == nullptr) throw std::bad_alloc();
    std::string config = bytes_field(1, bytes_field(1, "GPU") + number_field(2, 0));
    const auto count = static_cast<uint64_t>(std::atoi(threads.c_str()));
    if (count != 0) config += number_field(2, count) + number_field(5, count);
    Status status(runtime);
    runtime->TF_SetConfig(options_, config.data(), config.size(), status.get());
    if (status.code() == 0) return;
    runtime->TF_DeleteSessionOptions(options_);
    throw status.failure(ENGINE_UNSUPPORTED);
  }
  ~Options() { runtime_->TF_DeleteSessionOptions(options_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  const TF_SessionOptions* get() const { return options_; }

 private:
  const Runtime& runtime_;
  TF_SessionOptions* options_;
};

}  // namespace

void Session::make_graph() {
  graph_ = (*runtime_)->TF_NewGraph();
  if (graph_ == nullptr) throw std::bad_alloc();
}

Session::Session(std::shared_ptr<Runtime> runtime, const std::string& threads)
    : runtime_(std::move(runtime)) {
  const Options options(*runtime_, threads);
  const Status status(*runtime_);
  make_graph();
  session_ = (*runtime_)->TF_NewSession(graph_, options.get(), status.get());
  if (status.code() == 0) return;
  (*runtime_)->TF_DeleteGraph(graph_);
  throw status.failure(ENGINE_UNAVAILABLE);
}

Session::Session(std::shared_ptr<Runtime> runtime, const std::string& threads, const char* folder,
                 const std::vector<std::string>& tags, std::string& meta_graph)
    : runtime_(std::move(runtime)) {
  const Options options(*runtime_, threads);
  const Status status(*runtime_);
  std::vector<const char*> names;
  for (const std::string& tag : tags) names.push_back(tag.c_str());
  make_graph();
  TF_Buffer* description = (*runtime_)->TF_NewBuffer();
  session_ = (*runtime_)->TF_LoadSessionFromSavedModel(options.get(), nullptr, folder, names.data(),
                                                       static_cast<int>(names.size()), graph_, description,
                                                       status.get());
  if (status.code() == 0) meta_graph.assign(static_cast<const char*>(description->data), description->length);
  (*runtime_)->TF_DeleteBuffer(description);
  if (status.code() == 0) return;
  (*runtime_)->TF_DeleteGraph(graph_);
  throw status.failure(ENGINE_CORRUPT);
}

Session::~Session() {
  TF_Status* status = (*runtime_)->TF_NewStatus();
  (*runtime_)->TF_CloseSession(session_, status);
  (*runtime_)->TF_DeleteSession(session_, status);
  (*runtime_)->TF_DeleteGraph(graph_);
  (*runtime_)->TF_DeleteStatus(status);
}

Failure Status::failure(engine_status otherwise) const {
  Failure out{otherwise, runtime_->TF_Message(status_), code()};
  if (code() == code_invalid_argument) out.status = ENGINE_INVALID;
  if (code() == code_resource_exhausted) out.status = ENGINE_NO_MEMORY;
  if (code() == code_unimplemented) out.status = ENGINE_UNSUPPORTED;
  if (code() == code_data_loss) out.status = ENGINE_CORRUPT;
  return out;
}

}  // namespace enginehost::engines::tensorflow
