// The methods of a TorchScript module as functions of the plugin ABI.
#pragma once
#include <torch/csrc/jit/api/module.h>

#include <list>
#include <string>
#include <vector>

#include "engines/pytorch/instance.hpp"

namespace enginehost::engines::pytorch {

// One method. Lists, because the elements that ports point into must not move.
struct Method {
  std::string name;
  std::vector<c10::TypePtr> input_types;  // without the optional around them
  std::vector<engine_port> inputs, outputs;
  bool several_outputs = false;    // the method returns a tuple, whose elements are the outputs
  bool writes_to_tensors = false;  // may change its inputs
  std::list<std::string> texts;
};

// Describes `method` for the plugin ABI. Sizes and element types of tensors, which TorchScript does not
// store, are "any". Throws a Failure (unsupported) that names a required argument which the ABI cannot
// represent.
Method describe(const torch::jit::Method& method);

// Makes the value of an argument of type `type` from the given tensors; `names` are the keys of a dictionary.
// Throws a Failure (invalid) that names `argument` when they do not fit.
c10::IValue to_argument(const c10::TypePtr& type, const std::vector<at::Tensor>& given,
                        const std::vector<std::string>& names, const std::string& argument);

}  // namespace enginehost::engines::pytorch
