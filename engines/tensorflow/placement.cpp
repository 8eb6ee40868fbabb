#include "engines/tensorflow/placement.hpp"

#include "engines/tensorflow/failure.hpp"
#include "engines/tensorflow/protobuf.hpp"

namespace enginehost::engines::tensorflow {
namespace {

// "GPU" of "/job:localhost/replica:0/task:0/device:GPU:0"; tracers add devices with other names.
std::string type_of_device(std::string_view name) {
  const std::string_view before = "/device:";
  const size_t begin = name.rfind(before), end = name.rfind(':');
  if (begin == std::string_view::npos || end <= begin + before.size()) return "";
  return std::string(name.substr(begin + before.size(), end - begin - before.size()));
}

// "MatMul" of "[cpu 0.1MB] product = MatMul(x, weights)"; "" of a text of another form.
std::string_view kind_in(std::string_view label) {
  const std::string_view before = " = ";
  const size_t at = label.find(before);
  if (at == std::string_view::npos) return "";
  label.remove_prefix(at + before.size());
  return label.substr(0, label.find('('));
}

}  // namespace

Placement placement_of(std::string_view run_metadata) {
  // RunMetadata: step_stats 1 { dev_stats 1 { device 1, node_stats 2 { node_name 1, timeline_label 8 } } }
  Placement placement;
  each_field(run_metadata, [&](const Field& metadata) {
    if (metadata.number != 1) return;
    each_field(metadata.bytes, [&](const Field& step) {
      if (step.number != 1) return;
      const std::string type = type_of_device(last_field(step.bytes, 1).bytes);
      each_field(step.bytes, [&](const Field& node) {
        if (node.number != 2 || type.empty()) return;
        const std::string_view kind = kind_in(last_field(node.bytes, 8).bytes);
        if (kind.empty() || kind.front() == '_' || kind == "NoOp") return;
        placement[type].insert(std::string(last_field(node.bytes, 1).bytes) + " (" + std::string(kind) + ")");
      });
    });
  });
  return placement;
}

void report_placement(const Placement& placement, engine_device requested, const engine_host* host,
                      engine_call* call) {
  Text device;
  device.device(requested);
  std::string text, on_cpu;
  for (const auto& [type, operations] : placement) {
    text += (text.empty() ? "" : ", ") + type + " " + std::to_string(operations.size());
    if (type != "CPU") continue;
    for (const std::string& one : operations) on_cpu += (on_cpu.empty() ? ": " : ", ") + one;
  }
  if (text.empty()) text = "unknown: TensorFlow counted none";
  const bool elsewhere = requested.type == ENGINE_CUDA && !on_cpu.empty();
  if (elsewhere) text += " (on the CPU" + on_cpu + ")";
  call->detail(call, "placement", text.c_str());
  if (elsewhere && placement.count("GPU") == 0) {
    call->detail(call, "device", device.c_str());
    throw Failure{ENGINE_INTERNAL,
                  std::string(device.c_str()) + " was requested and computed no operation: " + text + "."};
  }
  const std::string message = std::string("Operations on ") + device.c_str() + ": " + text + ".";
  const int32_t level = elsewhere ? ENGINE_LOG_WARNING : ENGINE_LOG_INFO;
  if (level >= host->log_level) host->log(host, level, "placement", message.c_str());
}

}  // namespace enginehost::engines::tensorflow
