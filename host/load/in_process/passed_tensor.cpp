#include "host/load/in_process/passed_tensor.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "host/load/in_process/call.hpp"
#include "host/load/in_process/model.hpp"
#include "host/load/in_process/reported_text.hpp"
#include "host/load/in_process/results.hpp"

namespace enginehost::load {
namespace {

constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;
constexpr std::uint8_t string_bits = 128;  // size of an engine_string in engine_plugin.h

Diagnosis unsuitable(std::string_view input, std::string given, const char* wanted) {
  return std::move(diagnose("EH-P44")
                       .with("input", reported_text(input))
                       .with("given", given)
                       .with("wanted", wanted, "the plugin interface"));
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
  std::uint64_t bytes = 0;
  if (!tensor_bytes(tensor, bytes))
    return fail(unsuitable(input, describe_tensor(tensor),
                           "a tensor whose extents are 0 or more and whose bytes can be counted"));
  return bytes;
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

void PassedTensor::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{host_alignment});
}

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
  if (bytes <= most_bytes)
    taken.copy_.reset(static_cast<std::byte*>(
        ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{host_alignment}, std::nothrow)));
  if (taken.copy_ == nullptr)
    return fail(std::move(diagnose("EH-E01")
                              .with("status", name_of_status(ENGINE_NO_MEMORY))
                              .with("message", "there is no memory for a copy of " + reported_text(input) +
                                                   ", a " + describe_tensor(passed) +
                                                   " that begins at no multiple of its element's size")));
  std::memcpy(taken.copy_.get(), static_cast<const std::byte*>(passed.data) + passed.byte_offset,
              static_cast<std::size_t>(bytes));
  taken.tensor_.data = taken.copy_.get();
  taken.tensor_.byte_offset = 0;
  taken.tensor_.device = {ENGINE_CPU, 0};
  return taken;
}

}  // namespace enginehost::load
