#include "tests/gpu/compared_engine.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <stdexcept>

#include "base/json.hpp"

namespace enginehost::gpu {
namespace {

constexpr std::size_t most_offered = std::size_t{1} << 30;  // bytes; the engine may refuse larger tensors

const char* name_of(engine_status status) {
  constexpr const char* names[] = {"OK",        "INVALID", "UNSUPPORTED", "UNAVAILABLE", "NO_MEMORY",
                                   "CANCELLED", "CORRUPT", "INTERNAL",    "LOST"};
  return status >= 0 && status < static_cast<engine_status>(std::size(names)) ? names[status]
                                                                              : "a status not known";
}

// A call of one operation, with the plugin's message.
struct Call : engine_call {
  Call() : engine_call{} {
    size = sizeof(engine_call);
    is_cancelled = [](const engine_call*) noexcept -> std::int32_t { return 0; };
    progress = [](engine_call*, std::uint64_t, std::uint64_t, const char*) noexcept {};
    fail = [](engine_call* self, engine_status status, const char*, std::int64_t, const char* text) noexcept {
      auto& call = *static_cast<Call*>(self);
      const std::lock_guard<std::mutex> hold(call.mutex);
      if (call.message.empty()) call.message = text;
      return status;
    };
    detail = [](engine_call*, const char*, const char*) noexcept {};
  }
  std::mutex mutex;
  std::string message;
};

struct Results : engine_results {
  explicit Results(bool offers) : engine_results{}, offer(offers) {
    size = sizeof(engine_results);
    place = [](engine_results* self, std::uint32_t, const char*, const engine_tensor* like) noexcept {
      return static_cast<Results*>(self)->make(*like);
    };
    give = [](engine_results* self, std::uint32_t output, const char*, engine_owned_tensor* tensor) noexcept {
      auto& results = *static_cast<Results*>(self);
      results.count += 1;
      if (results.given != nullptr) results.given->release(results.given);
      results.given = tensor;
      if (output != 0) results.count += 100;
    };
  }
  ~Results() {
    if (given != nullptr) given->release(given);
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  const engine_tensor* make(const engine_tensor& like) {
    shape.assign(like.shape, like.shape + like.ndim);
    const std::size_t bytes = elements_of(shape) * like.dtype.bits / 8;
    if (!offer || bytes > most_offered) return nullptr;
    memory = allocate(bytes);
    if (memory == nullptr) return nullptr;
    count += 1;
    placed = {memory.get(), {ENGINE_CPU, 0}, like.ndim, like.dtype, shape.data(), nullptr, 0};
    return &placed;
  }
  const engine_tensor& result() const { return given != nullptr ? given->tensor : placed; }

  bool offer;
  int count = 0;
  engine_owned_tensor* given = nullptr;
  engine_tensor placed{};
  Shape shape;
  Memory memory;
};

Json outcome_of(const sdk::Engine& engine) {
  auto report = parse_json(engine.report(), "the report");
  return report ? (*report)["outcome"] : Json();
}

}  // namespace

std::string Outcome::text() const {
  if (!broken.empty()) return broken;
  if (!accepted()) return std::string(name_of(status)) + ": " + message;
  const Type* type = type_of(dtype);
  return text_of(shape) + " of " + (type != nullptr ? type->name : "a type not known");
}

ComparedEngine::ComparedEngine(const sdk::Request& request) : sdk_(sdk::Engine::open(request)) {
  for (const sdk::Device& device : sdk_.devices())
    if (device.type != ENGINE_CPU && accelerator_.empty()) accelerator_ = device.name;
  const Json outcome = outcome_of(sdk_);
  const std::string library = outcome["library"].as_string();
  // The folder of the engine's libraries: the installation that is used in place, else the view.
  root_ = outcome["in_place"].as_string();
  if (root_.empty()) root_ = std::filesystem::path(library).parent_path().string();
  // Not loaded a second time: these are the libraries that the SDK proved.
  library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library_ == nullptr)
    throw std::runtime_error(build() + ": its report names " + library + ", which is not loaded");
  plugin_ = static_cast<const engine_plugin*>(::dlsym(library_, ENGINE_PLUGIN_SYMBOL));
  if (plugin_ == nullptr) throw std::runtime_error(library + " has no " + ENGINE_PLUGIN_SYMBOL);
  host_.size = sizeof host_;
  host_.abi_major = ENGINE_ABI_MAJOR;
  host_.abi_minor = ENGINE_ABI_MINOR;
  host_.name = "gpu_compare_operations";
  host_.version = "1";
  host_.root = root_.c_str();
  host_.log_level = ENGINE_LOG_ERROR;
  host_.log = [](const engine_host*, std::int32_t, const char*, const char*) noexcept {};
  host_.query = [](const engine_host*, const char*) noexcept -> const void* { return nullptr; };
  Call call;
  if (plugin_->create(&host_, nullptr, 0, &instance_, &call) != ENGINE_OK) {
    instance_ = nullptr;
    throw std::runtime_error(build() + ": a second engine of its plugin was not made: " + call.message);
  }
  operations_ = static_cast<const engine_op_v1*>(plugin_->query(instance_, ENGINE_OP_V1));
  if (operations_ == nullptr) {
    plugin_->destroy(instance_);
    throw std::runtime_error(build() + " offers no single operations");
  }
}

ComparedEngine::~ComparedEngine() {
  plugin_->destroy(instance_);
  ::dlclose(library_);
}

Outcome ComparedEngine::run(const std::string& operation, const std::vector<const engine_tensor*>& inputs,
                            const Attributes& attributes, bool offer) {
  std::vector<engine_entry> entries;
  for (const auto& [key, value] : attributes) entries.push_back({key.c_str(), value.c_str()});
  Call call;
  Results results(offer);
  Outcome out;
  out.status = operations_->run(instance_, operation.c_str(), inputs.data(), inputs.size(), entries.data(),
                                entries.size(), &results, &call);
  out.message = call.message;
  if (!out.accepted()) {
    if (call.message.empty())
      out.broken = std::string("it refused as ") + name_of(out.status) + " without a reason";
    return out;
  }
  if (results.count != 1) {
    out.broken = "it gave " + std::to_string(results.count) + " results";
    return out;
  }
  read(results.result(), out);
  return out;
}

void ComparedEngine::read(const engine_tensor& result, Outcome& out) {
  if (result.device.type != ENGINE_CPU && result.device.type != ENGINE_CUDA_HOST) {
    const DeviceTensor here(sdk_.copy(&result, "cpu"));
    if (here.get() == nullptr) {
      out.broken = "its result lies on a device of type " + std::to_string(result.device.type) +
                   " that is host memory";
      return;
    }
    return read(*here.get(), out);
  }
  out.shape.assign(result.shape, result.shape + result.ndim);
  out.dtype = result.dtype;
  const Type* type = type_of(result.dtype);
  if (type == nullptr) {
    out.broken = "its result is of a type that it was not given";
    return;
  }
  const auto* data = static_cast<const std::byte*>(result.data) + result.byte_offset;
  out.values.resize(elements_of(out.shape));
  for (std::size_t i = 0; i < out.values.size(); ++i)
    out.values[i] = read_element(*type, data + i * (type->dtype.bits / 8));
}

}  // namespace enginehost::gpu
