#include "engines/tensorflow/run.hpp"

#include "engines/tensorflow/protobuf.hpp"

namespace enginehost::engines::tensorflow {

std::vector<HeldTensor> run_session(const Session& session, const std::vector<TF_Output>& inputs,
                                    const std::vector<HeldTensor>& values,
                                    const std::vector<TF_Output>& outputs, engine_call* call) {
  if (call->is_cancelled(call) != 0) throw Failure{ENGINE_CANCELLED, "The run was stopped before it began."};
  const std::shared_ptr<Runtime>& runtime = session.runtime();
  std::vector<TF_Tensor*> given, made(outputs.size());
  for (const HeldTensor& value : values) given.push_back(value.get());
  // RunOptions: timeout_in_ms 2
  const std::string options = call->timeout_ms == 0 ? "" : number_field(2, call->timeout_ms);
  const TF_Buffer timeout = {options.data(), options.size(), nullptr};
  const Status status(*runtime);
  (*runtime)->TF_SessionRun(session.get(), options.empty() ? nullptr : &timeout, inputs.data(), given.data(),
                            static_cast<int>(given.size()), outputs.data(), made.data(),
                            static_cast<int>(made.size()), nullptr, 0, nullptr, status.get());
  std::vector<HeldTensor> results;
  results.reserve(made.size());
  for (TF_Tensor* one : made) results.emplace_back(runtime, one);
  const int code = status.code();
  if (call->is_cancelled(call) != 0 || code == code_canceled || code == code_deadline_exceeded)
    throw Failure{ENGINE_CANCELLED, "The run was stopped."};
  status.check(ENGINE_INVALID);
  return results;
}

}  // namespace enginehost::engines::tensorflow
