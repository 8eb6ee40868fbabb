// The methods of a TorchScript module as functions of the plugin ABI.
#pragma once
#include <torch/csrc/jit/api/module.h>

#include <list>
#include <string>
#include <vector>

#include "engines/pytorch/instance.hpp"

namespace enginehost::engines::pytorch {

// One method. Lists, because what ports point into must stay where it is.
struct Method {
  std::string name;
  std::vector<c10::TypePtr> input_types;  // without the optional around them
  std::vector<engine_port> inputs, outputs;
  bool several_outputs = false;    // the method returns a tuple, whose elements are the outputs
  bool writes_to_tensors = false;  // may change what it is given
  std::list<std::string> texts;
};

// `method` as the plugin ABI sees it. What TorchScript does not write into a file, sizes and element types of
// tensors, is "any". Throws a Failure (unsupported) that names the argument when the ABI has no form for one
// that must be given.
Method describe(const torch::jit::Method& method);

// The value of an argument of type `type` out of the tensors given for it; `names` are the keys of a
// dictionary. Throws a Failure (invalid) that names `argument` when they do not fit.
c10::IValue to_argument(const c10::TypePtr& type, const std::vector<at::Tensor>& given,
                        const std::vector<std::string>& names, const std::string& argument);

}  // namespace enginehost::engines::pytorch
