// A network prepared for inputs of certain shapes. MXNet plans its memory ahead, so other shapes need another
// one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engines/mxnet/runtime.hpp"
#include "engines/support/tensor.hpp"

namespace enginehost::engines::mxnet {

// Returns MXNet's number of an element type (mshadow's TypeFlag); -1 for one it does not have.
int to_mxnet_type(engine_dtype type);
// Returns bits 0 for a type that the ABI has no name for.
engine_dtype from_mxnet_type(int type);

struct GivenInput {
  std::string name;
  const engine_tensor* tensor;
};

// The symbol's JSON and the bytes of its parameters. Text without parameters is an empty list.
struct Network {
  std::string symbol, parameters;
};
// Returns an empty parameter file.
std::string no_parameters();

// Throws a Failure unless the tensor is complete, in host memory and of a type that MXNet has.
void check_tensor_of(const engine_tensor& tensor, const char* name, engine_call* call);
// Same, and requires a shape that MXNet accepts: at least one axis, no axis of size 0.
void check_input(const engine_tensor& tensor, const char* name, engine_call* call);

class Prepared {
 public:
  // The inputs must have passed check_input. Their data is not read yet. All operations compute on `device`,
  // or making the network fails: MXNet never falls back to the CPU.
  Prepared(std::shared_ptr<Runtime> runtime, engine_device device, const Network& network,
           const std::vector<GivenInput>& inputs);
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // True if it was made for inputs of these names, types and shapes.
  bool fits(const std::vector<GivenInput>& inputs) const { return signature_of(inputs) == signature_; }
  // Runs and gives `output_count` results in host memory; `scalar` results lose their only axis, because
  // MXNet has no scalars.
  void run(const std::vector<GivenInput>& inputs, size_t output_count, bool scalar, engine_results* results,
           engine_call* call) const;

 private:
  static std::string signature_of(const std::vector<GivenInput>& inputs);
  void give(uint32_t output, bool scalar, engine_results* results) const;

  std::shared_ptr<Runtime> runtime_;
  std::string signature_;
  Predictor predictor_ = nullptr;
};

}  // namespace enginehost::engines::mxnet
