// engine.model/1 over a session.
#pragma once
#include <list>

#include "engines/onnxruntime/instance.hpp"

struct engine_model {
  explicit engine_model(engine_instance* owner) : engine(owner), session(*owner->runtime) {}

  engine_instance* engine;
  enginehost::engines::onnxruntime::HeldSession session;
  std::vector<engine_port> inputs, outputs;
  std::vector<int> output_kinds;  // OrtValueKind
  std::vector<engine_entry> metadata;
  engine_function function{};
  engine_model_info info{};
  // What the ports point into; lists, because their elements stay where they are.
  std::list<std::string> texts;
  std::list<std::vector<int64_t>> shapes;
  std::list<std::vector<const char*>> names;

  const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

namespace enginehost::engines::onnxruntime {

engine_status load_model(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                         engine_call* call) noexcept;
void unload_model(engine_model* model) noexcept;
engine_status run_model(engine_model* model, const engine_run* what, engine_results* results,
                        engine_call* call) noexcept;

}  // namespace enginehost::engines::onnxruntime
