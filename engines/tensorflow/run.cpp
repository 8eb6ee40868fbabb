#include "engines/tensorflow/run.hpp"

#include "engines/tensorflow/placement.hpp"
#include "engines/tensorflow/protobuf.hpp"

namespace enginehost::engines::tensorflow {

std::vector<HeldTensor> run_session(const Session& session, const engine_host* host,
                                    const std::vector<TF_Output>& inputs,
                                    const std::vector<HeldTensor>& values,
                                    const std::vector<TF_Output>& outputs, engine_call* call) {
  if (call->is_cancelled(call) != 0) throw Failure{ENGINE_CANCELLED, "The run was stopped before it began."};
  const std::shared_ptr<Runtime>& runtime = session.runtime();
  std::vector<TF_Tensor*> given, made(outputs.size());
  for (const HeldTensor& value : values) given.push_back(value.get());
  // RunOptions: trace_level 1 (SOFTWARE_TRACE is 1), timeout_in_ms 2
  std::string options = call->timeout_ms == 0 ? "" : number_field(2, call->timeout_ms);
  const bool measured = session.take_measurement();
  if (measured) options += number_field(1, 1);
  const TF_Buffer encoded = {options.data(), options.size(), nullptr};
  TF_Buffer metadata = {};
  const Status status(*runtime);
  (*runtime)->TF_SessionRun(session.get(), options.empty() ? nullptr : &encoded, inputs.data(), given.data(),
                            static_cast<int>(given.size()), outputs.data(), made.data(),
                            static_cast<int>(made.size()), nullptr, 0, measured ? &metadata : nullptr,
                            status.get());
  const std::string statistics(static_cast<const char*>(metadata.data), metadata.length);
  if (metadata.deallocate != nullptr) metadata.deallocate(const_cast<void*>(metadata.data), metadata.length);
  std::vector<HeldTensor> results;
  results.reserve(made.size());
  for (TF_Tensor* one : made) results.emplace_back(runtime, one);
  const int code = status.code();
  if (call->is_cancelled(call) != 0 || code == code_canceled || code == code_deadline_exceeded)
    throw Failure{ENGINE_CANCELLED, "The run was stopped."};
  status.check(ENGINE_INVALID);
  if (measured) report_placement(placement_of(statistics), session.device(), host, call);
  return results;
}

}  // namespace enginehost::engines::tensorflow
