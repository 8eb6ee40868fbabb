// Receives the outputs of a run: in host memory when the plugin can fill it, or as the plugin's own tensors.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/load/in_process/call.hpp"
#include "host/load/in_process/engine.hpp"

namespace enginehost::load {

// Upper limit for a tensor's rank, far above what engines have. A wild number from a plugin is refused.
inline constexpr std::int32_t highest_rank = 64;

// engine_plugin.h: host memory is aligned to 64 bytes by its allocator.
inline constexpr std::size_t host_alignment = 64;

// Releases a tensor that a plugin made.
struct ReleaseOwned {
  void operator()(engine_owned_tensor* tensor) const {
    if (tensor->release != nullptr) tensor->release(tensor);
  }
};
using OwnedTensor = std::unique_ptr<engine_owned_tensor, ReleaseOwned>;

// Returns what is wrong with the tensor, as the end of "gave": "no tensor", "a tensor whose ndim is -5".
// Empty when it can be read row by row and passed on. A tensor without release() gets one that does nothing,
// because its owner always calls it.
std::string problem_of(engine_owned_tensor* given);

// Memory of the host with that alignment.
struct FreeAligned {
  void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{host_alignment}); }
};
using AlignedMemory = std::unique_ptr<void, FreeAligned>;

// One output. The tensor is valid as long as the object lives. A tensor of the plugin must be released before
// its engine is destroyed. Movable; one thread at a time.
class Output {
 public:
  std::uint32_t number = 0;
  std::string name;  // a dictionary's key, or empty

  const engine_tensor& tensor() const { return tensor_; }
  bool placed() const { return memory_ != nullptr; }  // in memory of the host
  // Passes the plugin's tensor to the caller, who calls its release(). nullptr if the output was placed in
  // host memory.
  engine_owned_tensor* take() { return given_.release(); }

 private:
  friend class Results;
  engine_tensor tensor_{};
  std::vector<std::int64_t> shape_;
  AlignedMemory memory_;
  OwnedTensor given_;
};

// Pass get() to a run, then take the outputs. One object for one run at a time.
class Results {
 public:
  // offer = false: offers no host memory, so that the plugin gives its own tensors.
  explicit Results(bool offer = true);
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  engine_results* get() { return &results_; }
  // Outputs in the order they came. After a failed run: those that came before the failure.
  std::vector<std::unique_ptr<Output>> take() { return std::move(outputs_); }
  const std::vector<std::unique_ptr<Output>>& outputs() const { return outputs_; }
  // Describes the first output that is no tensor; it is not among the outputs. Empty when all are tensors.
  const std::string& problem() const { return problem_; }

 private:
  const engine_tensor* place(std::uint32_t number, const char* name, const engine_tensor& like);
  void give(std::uint32_t number, const char* name, engine_owned_tensor* tensor);
  engine_results results_{};
  bool offer_;
  std::string problem_;
  std::vector<std::unique_ptr<Output>> outputs_;
};

// True for memory that the processor can read by its address.
bool is_host_memory(engine_device device);

// A tensor that an application passed, converted to what engine_plugin.h promises plugins: no strides, a
// valid shape and type, and data that begins at a multiple of its element's size.

// Movable. The tensor is valid as long as this object and the application's tensor. Any thread.
class PassedTensor {
 public:
  // EH-P44 ("input", "given", "wanted"): strides with gaps; a missing shape, a negative rank or extent, or a
  // byte count that overflows; a type of several lanes or of no bits; strings of another size; no data
  // although there are elements. Host memory that begins between two elements is copied; on a device it is
  // EH-P44. EH-E01 when there is no memory for the copy.
  static Result<PassedTensor> take(std::string_view input, const engine_tensor& passed);

  const engine_tensor& tensor() const { return tensor_; }

 private:
  engine_tensor tensor_{};
  AlignedMemory copy_;
};

// Tensors in an engine's own memory, through its engine.tensor/1 table.

// Creates an uninitialized tensor of this type and shape on `like`'s device; ignores the data, offset and
// strides of `like`. The engine must have the table. EH-E01 for what the plugin reports, or when what it
// gives is no tensor.
Result<OwnedTensor> create_tensor(Engine& engine, engine_tensor like, const CallOptions& options);

// Copies between devices of the engine, or between one of them and host memory. The engine must have the
// table.
Result<void> copy_tensor(Engine& engine, const engine_tensor& from, const engine_tensor& to,
                         const CallOptions& options);

}  // namespace enginehost::load
