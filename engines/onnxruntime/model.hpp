// engine.model/1 over a session.
#pragma once
#include <atomic>
#include <list>

#include "engines/onnxruntime/instance.hpp"
#include "engines/onnxruntime/placement.hpp"

struct engine_model {
  explicit engine_model(engine_instance* owner) : engine(owner), session(*owner->runtime) {}

  engine_instance* engine;
  engine_device device{};
  bool may_fall_back = false;  // the caller's option allows the runtime to compute nodes on the CPU
  // Declared before the session, which writes into its folder until the end. nullptr: not measured.
  std::unique_ptr<enginehost::engines::onnxruntime::Placement> placement;
  std::atomic<bool> placement_reported = false;
  enginehost::engines::onnxruntime::HeldSession session;
  std::vector<engine_port> inputs, outputs;
  std::vector<int> output_kinds;  // OrtValueKind
  std::vector<engine_entry> metadata;
  engine_function function{};
  engine_model_info info{};
  // Storage that the ports point into; lists, because their elements do not move.
  std::list<std::string> texts;
  std::list<std::vector<int64_t>> shapes;
  std::list<std::vector<const char*>> names;

  const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

namespace enginehost::engines::onnxruntime {

// A session setting of ONNX Runtime: loading fails when a node would be placed on the CPU.
inline constexpr const char* no_cpu_fallback = "session.disable_cpu_ep_fallback";

engine_status load_model(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                         engine_call* call) noexcept;
void unload_model(engine_model* model) noexcept;
engine_status run_model(engine_model* model, const engine_run* what, engine_results* results,
                        engine_call* call) noexcept;

}  // namespace enginehost::engines::onnxruntime
