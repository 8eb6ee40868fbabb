#include "host/load/in_process/check.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "host/load/in_process/tensors.hpp"

namespace enginehost::load {
namespace {

constexpr std::int64_t extent = 128;
constexpr std::size_t elements = extent * extent;
// The first runs of a new engine may take a thousand times longer: its threads start, and the processor is
// busy with the load. Slow devices are measured three times.
constexpr int least_runs = 3, most_runs = 30;
constexpr std::chrono::milliseconds warm_up{100};
const std::int64_t shape[] = {extent, extent};

engine_tensor view_of(void* data, engine_device device) {
  engine_tensor tensor{};
  tensor.data = data;
  tensor.device = device;
  tensor.ndim = 2;
  tensor.dtype = {ENGINE_FLOAT, 32, 1};
  tensor.shape = shape;
  return tensor;
}

// Small whole numbers times twice a permutation of the columns: every product is exact, and every element
// shows whether its own row and column were read.
std::size_t column_after(std::size_t column) { return (column * 5 + 1) % extent; }
std::vector<float> left_matrix() {
  std::vector<float> values(elements);
  for (std::size_t i = 0; i < elements; ++i) values[i] = static_cast<float>((i * 7 + i / extent * 3) % 23);
  return values;
}
std::vector<float> right_matrix() {
  std::vector<float> values(elements, 0.0F);
  for (std::size_t column = 0; column < extent; ++column) values[column * extent + column_after(column)] = 2;
  return values;
}

Diagnosis wrong(const Device& device, const std::string& given, const std::string& wanted) {
  return std::move(diagnose(Code::device_computes_wrongly)
                       .with(Key::device, device.text(), "request")
                       .with(Key::given, given, "the engine's result")
                       .with(Key::wanted, wanted, "arithmetic"));
}

Diagnosis wrong_form(const Device& device) {
  return wrong(device, "a tensor of another type or shape", "float32[128, 128]");
}

Result<void> compare(Engine& engine, const Device& device, const CallOptions& options,
                     const std::vector<float>& left, const engine_tensor& result) {
  const bool fits = result.ndim == 2 && result.shape != nullptr && result.shape[0] == extent &&
                    result.shape[1] == extent && result.dtype.code == ENGINE_FLOAT &&
                    result.dtype.bits == 32 && result.data != nullptr;
  if (!fits) return fail(wrong_form(device));
  std::vector<float> values(elements);
  if (result.device.type == ENGINE_CPU) {
    const auto* data =
        reinterpret_cast<const float*>(static_cast<const char*>(result.data) + result.byte_offset);
    std::copy(data, data + elements, values.begin());
  } else {
    TRY(copy_tensor(engine, result, view_of(values.data(), {ENGINE_CPU, 0}), options));
  }
  for (std::size_t row = 0; row < extent; ++row)
    for (std::size_t column = 0; column < extent; ++column) {
      const float is = values[row * extent + column_after(column)], right = 2 * left[row * extent + column];
      if (is != right) return fail(wrong(device, std::to_string(is), std::to_string(right)));
    }
  return {};
}

// Returns the time of the fastest run, with the inputs on the device already; checks the last result.
Result<double> multiply(Engine& engine, const Device& device, const CallOptions& options,
                        std::string& computed_on) {
  std::vector<float> left = left_matrix(), right = right_matrix();
  engine_tensor inputs[] = {view_of(left.data(), {ENGINE_CPU, 0}), view_of(right.data(), {ENGINE_CPU, 0})};
  std::vector<OwnedTensor> on_device;
  for (engine_tensor& input : inputs) {
    if (device.id.type == ENGINE_CPU) break;
    TRY_ASSIGN(OwnedTensor made, create_tensor(engine, view_of(nullptr, device.id), options));
    TRY(copy_tensor(engine, input, made->tensor, options));
    input = made->tensor;
    on_device.push_back(std::move(made));
  }
  const engine_tensor* const passed_in[] = {&inputs[0], &inputs[1]};
  double fastest = std::numeric_limits<double>::max();
  std::optional<Results> given;  // without memory of the host: the plugin's own tensor states its device
  const auto first = std::chrono::steady_clock::now();
  for (int i = 0; i < least_runs || (i < most_runs && std::chrono::steady_clock::now() - first < warm_up);
       ++i) {
    given.emplace(false);
    Call call(options);
    const auto begin = std::chrono::steady_clock::now();
    TRY(engine.named(call.finish(engine.op_table()->run(engine.instance(), "MatMul", passed_in, 2, nullptr, 0,
                                                        given->get(), call.get()))));
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
    fastest = std::min(fastest, passed.count());
  }
  if (!given->problem().empty()) return fail(wrong_form(device));
  if (given->outputs().empty()) return fail(wrong(device, "nothing", "a tensor"));
  const engine_tensor& result = given->outputs().back()->tensor();
  computed_on = engine.name_of(result.device);
  if (result.device.type != device.id.type || result.device.index != device.id.index)
    return fail(diagnose(Code::device_computes_wrongly)
                    .with(Key::device, device.text(), "request")
                    .with(Key::computed_on, computed_on, "the device that the engine's result lies on"));
  TRY(compare(engine, device, options, left, result));
  return fastest;
}

Result<double> multiply_as_work(Engine& engine, const Device& device, const CallOptions& options,
                                std::string& computed_on) {
  Work work = engine.work_on(device.text());
  return work.ended(multiply(engine, device, options, computed_on));
}

bool computes(const Engine& engine, const Device& device) {
  return engine.op_table() != nullptr && (engine.tensor_table() != nullptr || device.id.type == ENGINE_CPU);
}

void ask_memory(const Engine& engine, DeviceCheck& check) {
  const auto devices = engine.devices();
  if (!devices) return;
  for (const Device& device : *devices)
    if (device.text() == check.device) {
      check.memory_total = device.memory_total;
      check.memory_free = device.memory_free;
    }
}

}  // namespace

const char* name_of(DeviceCheck::Method method) {
  return method == DeviceCheck::Method::operation ? "operation" : "self-test";
}

Result<DeviceCheck> check_device(Engine& engine, const Device& device, const CallOptions& options) {
  DeviceCheck check;
  check.device = device.text();
  bool done = false;
  if (computes(engine, device)) {
    auto time = multiply_as_work(engine, device, options, check.computed_on);
    // An engine without this operation runs its own self-test.
    if (!time && time.error().value(Key::status) != "ENGINE_UNSUPPORTED")
      return fail(std::move(time).error());
    if (time) check.milliseconds = *time;
    done = time.has_value();
  }
  if (done && device.id.type == ENGINE_CPU) check.cpu_milliseconds = check.milliseconds;
  if (done && device.id.type != ENGINE_CPU) {
    TRY_ASSIGN(const std::vector<Device> devices, engine.devices());
    for (const Device& other : devices)
      if (std::string ignored; other.id.type == ENGINE_CPU && check.cpu_milliseconds == 0)
        check.cpu_milliseconds = multiply_as_work(engine, other, options, ignored).value_or(0);
  }
  if (!done) {
    check.method = DeviceCheck::Method::self_test;
    check.computed_on.clear();
    const auto begin = std::chrono::steady_clock::now();
    TRY(engine.self_test(ENGINE_SELFTEST_GRAPH, device.id, options));
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
    check.milliseconds = passed.count();
  }
  ask_memory(engine, check);
  return check;
}

Json to_json(const DeviceCheck& check) {
  return Json::object()
      .set("method", name_of(check.method))
      .set("computed_on", check.computed_on.empty() ? Json() : Json(check.computed_on))
      .set("milliseconds", check.milliseconds)
      .set("cpu_milliseconds", check.cpu_milliseconds)
      .set("memory_free", check.memory_free)
      .set("reopened", check.reopened);
}

std::string describe(const DeviceCheck& check) {
  char text[128];
  std::snprintf(text, sizeof text, "%s in %.2f ms",
                check.method == DeviceCheck::Method::operation ? "128 x 128 product" : "self-test",
                check.milliseconds);
  std::string line = text;
  if (check.cpu_milliseconds > 0 && check.computed_on.compare(0, 3, "cpu") != 0) {
    std::snprintf(text, sizeof text, " (cpu %.2f ms)", check.cpu_milliseconds);
    line += text;
  }
  if (!check.computed_on.empty()) line += ", result on " + check.computed_on;
  if (check.memory_free > 0) line += ", " + format_bytes(check.memory_free) + " free";
  if (check.reopened) line += "; the device had been lost and was opened again";
  return line;
}

}  // namespace enginehost::load
