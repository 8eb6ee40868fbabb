// Gives the results of a run to the host.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "engines/pytorch/instance.hpp"

namespace enginehost::engines::pytorch {

// Gives values to the host one by one, on the requested device. A value is copied only if the host could
// otherwise see it change or vanish: when it shares memory with an input or with something that the model
// keeps.
class ResultWriter {
 public:
  // `device`: the device for the values, or nothing to leave them where they are. `inputs` must outlive the
  // writer.
  ResultWriter(engine_results* results, c10::optional<c10::Device> device,
               const std::vector<at::Tensor>& inputs)
      : results_(results), device_(device), inputs_(inputs) {}

  // `name` is "" if the output's number identifies the value.
  void give(uint32_t output, const std::string& name, at::Tensor value);
  // Lists, tuples and dictionaries are given one by one, under names such as "0.boxes".
  void give(uint32_t output, const std::string& name, c10::IValue value);

 private:
  engine_results* results_;
  c10::optional<c10::Device> device_;
  const std::vector<at::Tensor>& inputs_;
};

}  // namespace enginehost::engines::pytorch
