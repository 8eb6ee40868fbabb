#include <cstdlib>
#include <cstring>

#include "engines/support/runtime_library.hpp"
#include "engines/tensorflow/protobuf.hpp"
#include "engines/tensorflow/runtime.hpp"

namespace enginehost::engines::tensorflow {
namespace {

// ConfigProto (tensorflow/core/protobuf/config.proto): device_count 1 { key 1, value 2 },
// intra_op_parallelism_threads 2, inter_op_parallelism_threads 5, gpu_options 6 { allow_growth 4,
// visible_device_list 5 }.
std::string configuration(const Place& place) {
  // Without allow_growth the first session takes nearly all memory of the GPU.
  std::string config =
      place.device.type == ENGINE_CUDA
          ? bytes_field(6, number_field(4, 1) + bytes_field(5, std::to_string(place.device.index)))
          : bytes_field(1, bytes_field(1, "GPU") + number_field(2, 0));
  const auto count = static_cast<uint64_t>(std::atoi(place.threads.c_str()));
  if (count != 0) config += number_field(2, count) + number_field(5, count);
  return config;
}

class Options {
 public:
  Options(const Runtime& runtime, const Place& place)
      : runtime_(runtime), options_(runtime->TF_NewSessionOptions()) {
    if (options_ == nullptr) throw std::bad_alloc();
    const std::string config = configuration(place);
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

Session::Session(std::shared_ptr<Runtime> runtime, const Place& place)
    : runtime_(std::move(runtime)), device_(place.device), unmeasured_(place.device.type == ENGINE_CUDA) {
  const Options options(*runtime_, place);
  const Status status(*runtime_);
  make_graph();
  session_ = (*runtime_)->TF_NewSession(graph_, options.get(), status.get());
  if (status.code() != 0) {
    (*runtime_)->TF_DeleteGraph(graph_);
    throw status.failure(ENGINE_UNAVAILABLE);
  }
  require_gpu();
}

Session::Session(std::shared_ptr<Runtime> runtime, const Place& place, const char* folder,
                 const std::vector<std::string>& tags, std::string& meta_graph)
    : runtime_(std::move(runtime)), device_(place.device), unmeasured_(place.device.type == ENGINE_CUDA) {
  const Options options(*runtime_, place);
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
  if (status.code() != 0) {
    (*runtime_)->TF_DeleteGraph(graph_);
    throw status.failure(ENGINE_CORRUPT);
  }
  require_gpu();
}

Session::~Session() { release(); }

void Session::release() const {
  TF_Status* status = (*runtime_)->TF_NewStatus();
  (*runtime_)->TF_CloseSession(session_, status);
  (*runtime_)->TF_DeleteSession(session_, status);
  (*runtime_)->TF_DeleteGraph(graph_);
  (*runtime_)->TF_DeleteStatus(status);
}

std::string Session::device_name(const char* type) const {
  const Runtime& runtime = *runtime_;
  const Status status(runtime);
  TF_DeviceList* list = runtime->TF_SessionListDevices(session_, status.get());
  status.check(ENGINE_UNAVAILABLE);
  std::string out;
  for (int i = 0; i < runtime->TF_DeviceListCount(list) && out.empty(); i++) {
    const char* listed = runtime->TF_DeviceListType(list, i, status.get());
    if (listed == nullptr || std::strcmp(listed, type) != 0) continue;
    if (const char* name = runtime->TF_DeviceListName(list, i, status.get())) out = name;
  }
  runtime->TF_DeleteDeviceList(list);
  return out;
}

// Without CUDA's libraries or code for the GPU, TensorFlow creates a session without the GPU and reports
// success.
void Session::require_gpu() const {
  if (device_.type != ENGINE_CUDA) return;
  try {
    if (!device_name("GPU").empty()) return;
    const int error = error_of_context(device_.index);
    Text text;
    text.device(device_) << " is not available: TensorFlow makes no device of it";
    if (error == 0)
      text << ", because it lacks a library of CUDA or code for this GPU. TensorFlow has written the reason "
              "to stderr.";
    else
      text << ", and the driver no context: CUDA error " << int64_t{error} << ".";
    throw Failure{ENGINE_UNAVAILABLE, text.c_str()};
  } catch (...) {
    release();  // no destructor runs for an object whose constructor throws
    throw;
  }
}

Failure Status::failure(engine_status otherwise) const {
  Failure out{otherwise, runtime_->TF_Message(status_), code()};
  if (code() == code_invalid_argument) out.status = ENGINE_INVALID;
  const bool of_cuda = code() == code_internal && (out.message.find("CUDA") != std::string::npos ||
                                                   out.message.find("cuda") != std::string::npos);
  // "TensorFlow device (GPU:0) is being mapped to multiple devices": a process can use one GPU.
  if (of_cuda || code() == code_already_exists) out.status = ENGINE_UNAVAILABLE;
  if (code() == code_resource_exhausted || out.message.find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos)
    out.status = ENGINE_NO_MEMORY;
  if (code() == code_unimplemented) out.status = ENGINE_UNSUPPORTED;
  if (code() == code_data_loss) out.status = ENGINE_CORRUPT;
  return out;
}

}  // namespace enginehost::engines::tensorflow
