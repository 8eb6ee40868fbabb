// Takes what a run produces: memory of ours when the plugin can fill it, or a tensor of its own.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace enginehost::load {

// More dimensions than this no tensor has: far above what engines have, so that a wild number is not
// followed.
inline constexpr std::int32_t highest_rank = 64;

// engine_plugin.h: who allocates host memory aligns it to 64.
inline constexpr std::size_t host_alignment = 64;

// A tensor that a plugin made, to be held until it is released.
struct ReleaseOwned {
  void operator()(engine_owned_tensor* tensor) const {
    if (tensor->release != nullptr) tensor->release(tensor);
  }
};
using OwnedTensor = std::unique_ptr<engine_owned_tensor, ReleaseOwned>;

// What is wrong with it, after "gave": "no tensor", "a tensor whose ndim is -5". Empty when it can be read
// row by row and handed on; one without a release() is given one that does nothing, since whoever holds it
// calls it.
std::string problem_of(engine_owned_tensor* given);

// One output. The tensor is valid as long as the object lives; a tensor the plugin gave must be gone before
// its engine is destroyed. Movable; one thread at a time.
class Output {
 public:
  std::uint32_t number = 0;
  std::string name;  // a dictionary's key, or empty

  const engine_tensor& tensor() const { return tensor_; }
  bool placed() const { return memory_ != nullptr; }  // in memory of the host
  // The tensor the plugin gave, now the caller's (who calls its release()); nullptr if it was placed.
  engine_owned_tensor* take();

 private:
  friend class Results;
  struct Free {
    void operator()(void* memory) const;
  };
  engine_tensor tensor_{};
  std::vector<std::int64_t> shape_;
  std::unique_ptr<void, Free> memory_;
  OwnedTensor given_;
};

// Pass get() to a run, then take the outputs. For one run at a time.
class Results {
 public:
  // offer = false: never places, so that the plugin gives.
  explicit Results(bool offer = true);
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  engine_results* get() { return &results_; }
  // In the order they came. After a run that failed: what was handed over until then.
  std::vector<std::unique_ptr<Output>> take() { return std::move(outputs_); }
  const std::vector<std::unique_ptr<Output>>& outputs() const { return outputs_; }
  // Of the first that was given and is no tensor, which is not among the outputs; empty when all are.
  const std::string& problem() const { return problem_; }

 private:
  const engine_tensor* place(std::uint32_t number, const char* name, const engine_tensor& like);
  void give(std::uint32_t number, const char* name, engine_owned_tensor* tensor);
  engine_results results_{};
  bool offer_;
  std::string problem_;
  std::vector<std::unique_ptr<Output>> outputs_;
};

// Bytes a tensor takes, or nothing when its shape or type overflows or is not a tensor's.
bool tensor_bytes(const engine_tensor& tensor, std::uint64_t& bytes);

// What the processor reads by its address.
bool is_host_memory(engine_device device);

// Row-major without gaps. Strides may be left out; those that are given must be what they would be. Those of
// an axis of length 1 say nothing, and those of a tensor without elements neither. ndim and shape must be a
// tensor's.
bool is_compact(const engine_tensor& tensor);

}  // namespace enginehost::load
