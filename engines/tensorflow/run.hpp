// One run of a session, for models and for single operations.
#pragma once
#include <vector>

#include "engines/tensorflow/tensors.hpp"

namespace enginehost::engines::tensorflow {

// Returns the results in the order of `outputs`. Throws a Failure; CANCELLED when `call` was canceled
// meanwhile. TensorFlow only checks the remaining time, between two operations. The first run of a session on
// a GPU reports to `host` and `call` where its operations ran.
std::vector<HeldTensor> run_session(const Session& session, const engine_host* host,
                                    const std::vector<TF_Output>& inputs,
                                    const std::vector<HeldTensor>& values,
                                    const std::vector<TF_Output>& outputs, engine_call* call);

}  // namespace enginehost::engines::tensorflow
