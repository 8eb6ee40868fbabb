// Attributes of an ONNX operation, as text.
#pragma once
#include <string>
#include <vector>

#include "engines/cuda/failure.hpp"

namespace enginehost::engines::cuda {

class Attributes {
 public:
  Attributes(const char* operation, const engine_entry* entries, size_t count, engine_call* call)
      : operation_(operation), entries_(entries), count_(count), call_(call) {}

  // Throws a Failure (invalid) for an attribute that is not among `known`.
  void allow(std::initializer_list<const char*> known) const;
  // Whole numbers as in "2,2"; `otherwise` when the attribute was not given. Throws a Failure (invalid) for
  // other text, or when `count` is not 0 and there are not so many.
  std::vector<int64_t> integers(const char* key, std::vector<int64_t> otherwise, size_t count = 0) const;
  int64_t integer(const char* key, int64_t otherwise) const { return integers(key, {otherwise}, 1)[0]; }
  const char* text(const char* key) const { return find_entry(entries_, count_, key); }

 private:
  [[noreturn]] void refuse(const char* key, const std::string& why) const;

  const char* operation_;
  const engine_entry* entries_;
  size_t count_;
  engine_call* call_;
};

}  // namespace enginehost::engines::cuda
