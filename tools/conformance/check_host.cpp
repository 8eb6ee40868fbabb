#include "tools/conformance/check_host.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tools/conformance/system.hpp"

namespace engineplugin {

namespace {

std::atomic<int> late_calls{0};

}  // namespace

CheckHost::Kept& CheckHost::keep() {
  static auto& all = *new std::vector<std::unique_ptr<Kept>>;  // kept until the process ends
  return *all.emplace_back(std::make_unique<Kept>());
}

void CheckHost::note_call(const engine_host* host) {
  if (static_cast<Kept*>(host->host_data)->ended) ++late_calls;
}

int CheckHost::calls_after_destroy() { return late_calls; }

CheckHost::~CheckHost() { kept_.ended = true; }

CheckHost::CheckHost(std::string root) : kept_(keep()) {
  kept_.root = std::move(root);
  engine_host& host = kept_.host.value;
  host.host_data = &kept_;
  host.abi_major = ENGINE_ABI_MAJOR;
  host.abi_minor = ENGINE_ABI_NEWEST_MINOR;
  host.name = "engine-plugin-check";
  host.version = "1";
  host.root = kept_.root.c_str();
  host.log_level = ENGINE_LOG_DEBUG;
  host.log = [](const engine_host* h, std::int32_t, const char*, const char*) noexcept { note_call(h); };
  host.query = [](const engine_host* h, const char*) noexcept -> const void* {
    note_call(h);
    return nullptr;
  };
}

CheckCall::CheckCall() {
  engine_call& call = call_.value;
  call.host_data = this;
  call.is_cancelled = [](const engine_call* c) noexcept -> std::int32_t {
    const CheckCall& me = self(c);
    return me.canceled_ || (me.timed_ && std::chrono::steady_clock::now() >= me.deadline_);
  };
  call.progress = [](engine_call*, std::uint64_t, std::uint64_t, const char*) noexcept {};
  call.fail = [](engine_call* c, engine_status status, const char* origin, std::int64_t native,
                 const char* message) noexcept -> engine_status {
    CheckCall& me = self(c);
    std::lock_guard lock(me.mutex_);
    me.faults_.push_back({status, origin ? origin : "", native, message ? message : ""});
    return status;
  };
  call.detail = [](engine_call* c, const char* key, const char* value) noexcept {
    CheckCall& me = self(c);
    std::lock_guard lock(me.mutex_);
    me.details_.emplace(key ? key : "", value ? value : "");
  };
}

CheckCall::~CheckCall() { end_copy(); }

void CheckCall::give_up_after(std::chrono::milliseconds time) {
  timed_ = true;
  deadline_ = std::chrono::steady_clock::now() + time;
  call_.value.timeout_ms = static_cast<std::uint32_t>(time.count());
}

std::string CheckCall::describe(engine_status status) const {
  std::string text = std::to_string(status) + " (" + status_name(status) + ")";
  text += faults_.empty() ? ", no message" : ": " + faults_.front().message;
  for (const auto& [key, value] : details_) text += " {" + key + "=" + value + "}";
  return text;
}

std::string CheckCall::problem_unless_failed(engine_status status,
                                             const std::vector<engine_status>& allowed) const {
  if (status == ENGINE_OK) return "returned OK where a failure was expected";
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), status) == allowed.end()) {
    std::string names;
    for (engine_status one : allowed) names += (names.empty() ? "" : " or ") + status_name(one);
    return "returned " + describe(status) + "; expected was " + names;
  }
  if (faults_.empty() || faults_.front().message.empty())
    return describe(status) + ": call->fail() gave no message";
  const bool reported =
      std::any_of(faults_.begin(), faults_.end(), [&](const Fault& f) { return f.status == status; });
  return reported ? "" : "returned " + describe(status) + ", but no fail() reported that status";
}

namespace {

// Describes a tensor that cannot be read; "" if it can.
std::string unreadable(const engine_tensor& tensor) {
  if (tensor.ndim < 0) return "a tensor of rank " + std::to_string(tensor.ndim);
  if (tensor.ndim > 0 && !tensor.shape) return "a tensor whose shape is NULL";
  return "";
}

}  // namespace

CheckResults::CheckResults(bool offer) : offer_(offer) {
  engine_results& results = results_.value;
  results.host_data = this;
  results.place = [](engine_results* r, std::uint32_t output, const char*,
                     const engine_tensor* like) noexcept -> const engine_tensor* {
    CheckResults& me = self(r);
    if (!me.offer_) return nullptr;
    if (const std::string wrong = like ? unreadable(*like) : "no tensor"; !wrong.empty()) {
      me.problem_ = "place() was asked for " + wrong;
      return nullptr;
    }
    if (like->device.type != ENGINE_CPU) return nullptr;
    if (like->dtype.code == ENGINE_STRING) me.problem_ = "place() was asked for strings";
    auto value = std::make_unique<Value>();
    value->output = output;
    value->placed = true;
    value->shape.assign(like->shape, like->shape + like->ndim);
    value->memory.resize(byte_count(*like) + 64);
    const auto address = reinterpret_cast<std::uintptr_t>(value->memory.data());
    value->tensor = *like;
    value->tensor.data = value->memory.data() + (64 - address % 64) % 64;
    value->tensor.byte_offset = 0;
    value->tensor.strides = nullptr;
    value->tensor.shape = value->shape.data();
    me.values_.push_back(std::move(value));
    return &me.values_.back()->tensor;
  };
  results.give = [](engine_results* r, std::uint32_t output, const char*,
                    engine_owned_tensor* owned) noexcept {
    CheckResults& me = self(r);
    if (!owned || !owned->release) {
      me.problem_ = "give() got no tensor, or one without release";
      return;
    }
    auto value = std::make_unique<Value>();
    value->output = output;
    value->tensor = owned->tensor;
    value->owned.reset(owned);
    if (owned->major != ENGINE_DLPACK_MAJOR) me.problem_ = "give() got a tensor whose major is not DLPack 1";
    if (std::string wrong = unreadable(owned->tensor); !wrong.empty())
      me.problem_ = "give() got " + wrong;
    else if (element_count(owned->tensor) > 0 && !owned->tensor.data)
      me.problem_ = "give() got a tensor whose data is NULL";
    if (owned->tensor.strides) me.problem_ = "give() got strides; tensors are compact";
    me.values_.push_back(std::move(value));
  };
}

std::string status_name(engine_status status) {
  static constexpr const char* names[] = {"OK",        "INVALID", "UNSUPPORTED", "UNAVAILABLE", "NO_MEMORY",
                                          "CANCELLED", "CORRUPT", "INTERNAL",    "LOST"};
  return status >= 0 && status < 9 ? names[status] : "unknown status";
}

HostTensor::HostTensor(std::vector<std::int64_t> dimensions, const std::vector<float>& values,
                       std::uint64_t skip)
    : shape(std::move(dimensions)), memory(nullptr, [](float* block) { release_aligned(block); }) {
  const std::size_t bytes = (skip + values.size() * sizeof(float) + 63) / 64 * 64 + 64;
  memory.reset(static_cast<float*>(allocate_aligned(bytes)));
  if (!memory) std::abort();
  std::memset(memory.get(), 0xFF,
              bytes);  // all bits set is a NaN: reading outside the values spoils the result
  if (!values.empty()) {
    std::memcpy(reinterpret_cast<char*>(memory.get()) + skip, values.data(), values.size() * sizeof(float));
  }
  tensor.data = memory.get();
  tensor.device = {ENGINE_CPU, 0};
  tensor.ndim = static_cast<std::int32_t>(shape.size());
  tensor.dtype = {ENGINE_FLOAT, 32, 1};
  tensor.shape = shape.empty() ? nullptr : shape.data();
  tensor.byte_offset = skip;
}

const float* HostTensor::values() const {
  return reinterpret_cast<const float*>(static_cast<const char*>(tensor.data) + tensor.byte_offset);
}

std::uint64_t element_count(const engine_tensor& tensor) {
  std::uint64_t count = 1;
  for (std::int32_t i = 0; i < tensor.ndim; i++) count *= static_cast<std::uint64_t>(tensor.shape[i]);
  return count;
}

std::uint64_t byte_count(const engine_tensor& tensor) {
  return (element_count(tensor) * tensor.dtype.bits * tensor.dtype.lanes + 7) / 8;
}

}  // namespace engineplugin
