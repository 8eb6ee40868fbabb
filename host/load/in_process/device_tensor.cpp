#include "host/load/in_process/device_tensor.hpp"

namespace enginehost::load {

Result<OwnedTensor> create_tensor(Engine& engine, engine_tensor like, const CallOptions& options) {
  like.data = nullptr;
  like.byte_offset = 0;
  like.strides = nullptr;
  engine_owned_tensor* made = nullptr;
  Call call(options);
  TRY(engine.named(call.finish(engine.tensor_table()->create(engine.instance(), &like, &made, call.get()))));
  OwnedTensor owned(made);
  if (const std::string problem = problem_of(made); !problem.empty())
    return engine.named(Result<OwnedTensor>(fail(gave_wrongly("create", problem))));
  return owned;
}

Result<void> copy_tensor(Engine& engine, const engine_tensor& from, const engine_tensor& to,
                         const CallOptions& options) {
  Call call(options);
  return engine.named(call.finish(engine.tensor_table()->copy(engine.instance(), &from, &to, call.get())));
}

}  // namespace enginehost::load
