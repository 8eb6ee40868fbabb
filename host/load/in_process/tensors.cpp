#include "host/load/in_process/tensors.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "host/load/in_process/call.hpp"
#include "host/load/in_process/model.hpp"
#include "host/load/in_process/reported_text.hpp"

namespace enginehost::load {
namespace {

// Returns nullptr when there is no such memory.
AlignedMemory aligned_memory(std::size_t bytes) {
  return AlignedMemory(::operator new (bytes, std::align_val_t{host_alignment}, std::nothrow));
}

// Computes the bytes that a tensor takes. Nothing when its shape or type is invalid or the size overflows.
std::optional<std::uint64_t> tensor_bytes(const engine_tensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > highest_rank || (tensor.ndim > 0 && tensor.shape == nullptr))
    return std::nullopt;
  const std::uint64_t element = static_cast<std::uint64_t>(tensor.dtype.bits) * tensor.dtype.lanes;
  if (std::any_of(tensor.shape, tensor.shape + tensor.ndim, [](std::int64_t size) { return size < 0; }))
    return std::nullopt;
  // If one extent is 0, the product of the others does not matter.
  const bool empty = std::find(tensor.shape, tensor.shape + tensor.ndim, 0) != tensor.shape + tensor.ndim;
  std::uint64_t bits = empty ? 0 : element;
  for (std::int32_t i = 0; i < tensor.ndim && !empty; ++i)
    if (__builtin_mul_overflow(bits, static_cast<std::uint64_t>(tensor.shape[i]), &bits)) return std::nullopt;
  if (element == 0 || bits > std::numeric_limits<std::uint64_t>::max() - 7) return std::nullopt;
  return (bits + 7) / 8;
}

// True for row-major data without gaps. Strides may be missing; if present they must equal the default.
// Strides of an axis of length 1 and of a tensor without elements are ignored. ndim and shape must be valid.
bool is_compact(const engine_tensor& tensor) {
  if (tensor.strides == nullptr) return true;
  for (std::int32_t i = 0; i < tensor.ndim; ++i)
    if (tensor.shape[i] == 0) return true;
  std::int64_t step = 1;
  for (std::int32_t i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != step) return false;
    if (__builtin_mul_overflow(step, tensor.shape[i], &step)) return false;
  }
  return true;
}

}  // namespace

bool is_host_memory(engine_device device) {
  return device.type == ENGINE_CPU || device.type == ENGINE_CUDA_HOST || device.type == ENGINE_CUDA_MANAGED ||
         device.type == ENGINE_ROCM_HOST;
}

std::string problem_of(engine_owned_tensor* given) {
  if (given == nullptr) return "no tensor";
  if (given->release == nullptr) given->release = [](engine_owned_tensor*) noexcept {};
  const engine_tensor& tensor = given->tensor;
  if (tensor.ndim < 0 || tensor.ndim > highest_rank)
    return "a tensor whose ndim is " + std::to_string(tensor.ndim);
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    return "a tensor whose shape is NULL and whose ndim is " + std::to_string(tensor.ndim);
  for (std::int32_t i = 0; i < tensor.ndim; ++i)
    if (tensor.shape[i] < 0) return "a tensor with an extent of " + std::to_string(tensor.shape[i]);
  if (!is_compact(tensor)) return "a tensor with gaps between its elements, or not in row-major order";
  if (is_host_memory(tensor.device) && tensor.data == nullptr && tensor_bytes(tensor).value_or(0) > 0)
    return "a tensor whose data is NULL";
  return {};
}

Results::Results(bool offer) : offer_(offer) {
  results_.size = sizeof results_;
  results_.host_data = this;
  results_.place = [](engine_results* results, std::uint32_t number, const char* name,
                      const engine_tensor* like) noexcept -> const engine_tensor* {
    try {
      return like != nullptr ? static_cast<Results*>(results->host_data)->place(number, name, *like)
                             : nullptr;
    } catch (...) {  // no memory: the plugin gives its own tensor instead
      return nullptr;
    }
  };
  results_.give = [](engine_results* results, std::uint32_t number, const char* name,
                     engine_owned_tensor* tensor) noexcept {
    try {
      static_cast<Results*>(results->host_data)->give(number, name, tensor);
    } catch (...) {
      if (tensor != nullptr) ReleaseOwned()(tensor);
    }
  };
}

const engine_tensor* Results::place(std::uint32_t number, const char* name, const engine_tensor& like) {
  const auto bytes = tensor_bytes(like);
  if (!offer_ || like.device.type != ENGINE_CPU || like.dtype.code == ENGINE_STRING || !bytes ||
      *bytes > std::numeric_limits<std::size_t>::max() - host_alignment)
    return nullptr;
  auto output = std::make_unique<Output>();
  output->number = number;
  output->name = name != nullptr ? name : "";
  output->shape_.assign(like.shape, like.shape + like.ndim);
  const std::size_t rounded =
      (static_cast<std::size_t>(*bytes) + host_alignment) / host_alignment * host_alignment;
  output->memory_ = aligned_memory(rounded);
  if (output->memory_ == nullptr) return nullptr;
  output->tensor_ = like;
  output->tensor_.data = output->memory_.get();
  output->tensor_.shape = output->shape_.data();
  output->tensor_.strides = nullptr;
  output->tensor_.byte_offset = 0;
  outputs_.push_back(std::move(output));
  return &outputs_.back()->tensor();
}

void Results::give(std::uint32_t number, const char* name, engine_owned_tensor* tensor) {
  if (std::string problem = problem_of(tensor); !problem.empty()) {
    if (problem_.empty()) problem_ = std::move(problem);
    if (tensor != nullptr) ReleaseOwned()(tensor);
    return;
  }
  auto output = std::make_unique<Output>();
  output->number = number;
  output->name = name != nullptr ? name : "";
  outputs_.reserve(outputs_.size() + 1);
  output->given_.reset(tensor);
  output->tensor_ = tensor->tensor;
  outputs_.push_back(std::move(output));
}

namespace {

constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;
constexpr std::uint8_t string_bits = 128;  // size of an engine_string in engine_plugin.h

Diagnosis unsuitable(std::string_view input, std::string given, const char* wanted) {
  return std::move(diagnose(Code::tensor_does_not_fit)
                       .with(Key::input, reported_text(input))
                       .with(Key::given, given)
                       .with(Key::wanted, wanted, "the plugin interface"));
}

// Checks rank, shape and type first: no other member can be read before they are right.
Result<std::uint64_t> bytes_of(std::string_view input, const engine_tensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > highest_rank)
    return fail(unsuitable(input, "one whose ndim is " + std::to_string(tensor.ndim),
                           "a tensor whose ndim is 0 or more, and 64 at most"));
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    return fail(unsuitable(input, "one whose shape is NULL and whose ndim is " + std::to_string(tensor.ndim),
                           "a tensor with a shape"));
  if (tensor.dtype.lanes != 1)
    return fail(unsuitable(input, describe_tensor(tensor), "a tensor whose type has one lane"));
  if (tensor.dtype.code == ENGINE_STRING && tensor.dtype.bits != string_bits)
    return fail(unsuitable(input, "strings of " + std::to_string(tensor.dtype.bits) + " bits",
                           "strings of 128 bits (enginehost_string)"));
  const auto bytes = tensor_bytes(tensor);
  if (!bytes)
    return fail(unsuitable(input, describe_tensor(tensor),
                           "a tensor whose extents are 0 or more and whose bytes can be counted"));
  return *bytes;
}

bool in_host_memory(engine_device device) {
  return device.type == ENGINE_CPU || device.type == ENGINE_CUDA_HOST || device.type == ENGINE_ROCM_HOST;
}

// True for devices where `data` holds a handle instead of an address.
bool is_handle(engine_device device) {
  return device.type == ENGINE_VULKAN || device.type == ENGINE_METAL || device.type == ENGINE_OTHER_DEVICE;
}

bool is_aligned(const engine_tensor& tensor) {
  const std::uint64_t element = (std::uint64_t{tensor.dtype.bits} + 7) / 8;
  const auto begin = is_handle(tensor.device) ? 0 : reinterpret_cast<std::uintptr_t>(tensor.data);
  return (begin + tensor.byte_offset) % element == 0;
}

}  // namespace

Result<PassedTensor> PassedTensor::take(std::string_view input, const engine_tensor& passed) {
  TRY_ASSIGN(const std::uint64_t bytes, bytes_of(input, passed));
  if (!is_compact(passed))
    return fail(unsuitable(input, "one with gaps between its elements", "a row-major tensor without gaps"));
  PassedTensor taken;
  taken.tensor_ = passed;
  taken.tensor_.strides = nullptr;
  if (bytes == 0) return taken;
  if (passed.data == nullptr)
    return fail(unsuitable(input, describe_tensor(passed) + " whose data is NULL", "a tensor with its data"));
  if (is_aligned(passed)) return taken;
  if (!in_host_memory(passed.device))
    return fail(unsuitable(input, "one that begins between two elements of the device's memory",
                           "a tensor that begins at a multiple of its element's size"));
  if (bytes <= most_bytes) taken.copy_ = aligned_memory(static_cast<std::size_t>(bytes));
  if (taken.copy_ == nullptr)
    return fail(std::move(diagnose(Code::engine_reports_error)
                              .with(Key::status, name_of_status(ENGINE_NO_MEMORY))
                              .with(Key::message, "there is no memory for a copy of " + reported_text(input) +
                                                      ", a " + describe_tensor(passed) +
                                                      " that begins at no multiple of its element's size")));
  std::memcpy(taken.copy_.get(), static_cast<const std::byte*>(passed.data) + passed.byte_offset,
              static_cast<std::size_t>(bytes));
  taken.tensor_.data = taken.copy_.get();
  taken.tensor_.byte_offset = 0;
  taken.tensor_.device = {ENGINE_CPU, 0};
  return taken;
}

Result<OwnedTensor> create_tensor(Engine& engine, engine_tensor like, const CallOptions& options) {
  like.data = nullptr;
  like.byte_offset = 0;
  like.strides = nullptr;
  engine_owned_tensor* made = nullptr;
  Call call(options);
  TRY(engine.named(call.finish(engine.tensor_table()->create(engine.instance(), &like, &made, call.get()))));
  OwnedTensor owned(made);
  if (const std::string problem = problem_of(made); !problem.empty())
    return engine.named(Result<OwnedTensor>(fail(gave_wrongly("create", problem))));
  return owned;
}

Result<void> copy_tensor(Engine& engine, const engine_tensor& from, const engine_tensor& to,
                         const CallOptions& options) {
  Call call(options);
  return engine.named(call.finish(engine.tensor_table()->copy(engine.instance(), &from, &to, call.get())));
}

}  // namespace enginehost::load
