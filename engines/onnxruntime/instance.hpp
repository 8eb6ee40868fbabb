#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engines/onnxruntime/devices.hpp"
#include "engines/onnxruntime/runtime.hpp"
#include "engines/onnxruntime/watcher.hpp"
#include "engines/support/tensor.hpp"

namespace enginehost::engines::onnxruntime {

// The execution provider that the build's options name; its devices are the ABI's ENGINE_OTHER_DEVICE.
struct Provider {
  std::string kind;                         // of its devices: "ggml"; empty: the build names none
  std::string name;                         // as the runtime's profile names it
  std::vector<const OrtEpDevice*> devices;  // by their index; empty if the runtime lists none for it
};

}  // namespace enginehost::engines::onnxruntime

struct engine_instance {
  engine_instance(const engine_host* of, std::shared_ptr<enginehost::engines::onnxruntime::Runtime> loaded)
      : host(of),
        runtime(std::move(loaded)),
        devices(enginehost::engines::onnxruntime::list_devices(runtime->path())),
        log(of),
        watcher(runtime) {}
  ~engine_instance();

  const engine_host* host;
  std::shared_ptr<enginehost::engines::onnxruntime::Runtime> runtime;
  enginehost::engines::Devices devices;
  enginehost::engines::onnxruntime::LogReceiver log;
  enginehost::engines::onnxruntime::Watcher watcher;
  std::string threads;  // "": the runtime's default
  std::vector<engine_entry> facts;
  // Single operations are models of one node, made at first use.
  std::map<std::string, engine_model*> operations;
  std::mutex operations_mutex;
  enginehost::engines::onnxruntime::Provider provider;
};

namespace enginehost::engines::onnxruntime {

extern const engine_op_v1 operation_table;
extern const engine_model_v1 model_table;
extern const engine_selftest_v1 selftest_table;

}  // namespace enginehost::engines::onnxruntime
