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
constexpr int runs = 3;
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

// One computation on one device; its inputs are on the device already.
class Product {
 public:
  Product(Engine& engine, const Device& device, const CallOptions& options)
      : engine_(engine), device_(device), options_(options), left_(left_matrix()), right_(right_matrix()) {}

  Result<void> prepare() {
    inputs_[0] = view_of(left_.data(), {ENGINE_CPU, 0});
    inputs_[1] = view_of(right_.data(), {ENGINE_CPU, 0});
    if (device_.id.type == ENGINE_CPU) return {};
    for (engine_tensor& input : inputs_) {
      const engine_tensor like = view_of(nullptr, device_.id);
      TRY_ASSIGN(OwnedTensor made, create_tensor(engine_, like, options_));
      TRY(copy_tensor(engine_, input, made->tensor, options_));
      input = made->tensor;
      on_device_.push_back(std::move(made));
    }
    return {};
  }

  // Returns the time of the fastest run; checks the last result.
  Result<double> run(std::string& computed_on) {
    const engine_tensor* inputs[] = {&inputs_[0], &inputs_[1]};
    double fastest = std::numeric_limits<double>::max();
    std::optional<Results> given;  // without memory of the host: the plugin's own tensor states its device
    for (int i = 0; i < runs; ++i) {
      given.emplace(false);
      Call call(options_);
      const auto begin = std::chrono::steady_clock::now();
      TRY(engine_.named(call.finish(engine_.op_table()->run(engine_.instance(), "MatMul", inputs, 2, nullptr,
                                                            0, given->get(), call.get()))));
      const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
      fastest = std::min(fastest, passed.count());
    }
    if (!given->problem().empty()) return fail(wrong_form());
    if (given->outputs().empty()) return fail(wrong("nothing", "a tensor"));
    const engine_tensor* result = &given->outputs().back()->tensor();
    computed_on = engine_.name_of(result->device);
    const bool same = result->device.type == device_.id.type && result->device.index == device_.id.index;
    if (!same)
      return fail(diagnose("EH-R17")
                      .with("device", device_.text(), "request")
                      .with("computed_on", computed_on, "the device that the engine's result lies on"));
    TRY(compare(*result));
    return fastest;
  }

 private:
  Diagnosis wrong(const std::string& given, const std::string& wanted) const {
    return std::move(diagnose("EH-R17")
                         .with("device", device_.text(), "request")
                         .with("given", given, "the engine's result")
                         .with("wanted", wanted, "arithmetic"));
  }

  Diagnosis wrong_form() const { return wrong("a tensor of another type or shape", "float32[128, 128]"); }

  Result<void> compare(const engine_tensor& result) {
    const bool fits = result.ndim == 2 && result.shape != nullptr && result.shape[0] == extent &&
                      result.shape[1] == extent && result.dtype.code == ENGINE_FLOAT &&
                      result.dtype.bits == 32 && result.data != nullptr;
    if (!fits) return fail(wrong_form());
    std::vector<float> values(elements);
    if (result.device.type == ENGINE_CPU) {
      const auto* data =
          reinterpret_cast<const float*>(static_cast<const char*>(result.data) + result.byte_offset);
      std::copy(data, data + elements, values.begin());
    } else {
      TRY(copy_tensor(engine_, result, view_of(values.data(), {ENGINE_CPU, 0}), options_));
    }
    for (std::size_t row = 0; row < extent; ++row)
      for (std::size_t column = 0; column < extent; ++column) {
        const float is = values[row * extent + column_after(column)],
                    right = 2 * left_[row * extent + column];
        if (is != right) return fail(wrong(std::to_string(is), std::to_string(right)));
      }
    return {};
  }

  Engine& engine_;
  const Device& device_;
  const CallOptions& options_;
  std::vector<float> left_, right_;
  engine_tensor inputs_[2]{};
  std::vector<OwnedTensor> on_device_;
};

bool computes(const Engine& engine, const Device& device) {
  return engine.op_table() != nullptr && (engine.tensor_table() != nullptr || device.id.type == ENGINE_CPU);
}

Result<double> multiply(Engine& engine, const Device& device, const CallOptions& options,
                        std::string& computed_on) {
  Work work = engine.work_on(device.text());
  Product product(engine, device, options);
  auto done = product.prepare().and_then([&] { return product.run(computed_on); });
  return work.ended(std::move(done));
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
    auto time = multiply(engine, device, options, check.computed_on);
    // An engine without this operation runs its own self-test.
    if (!time && time.error().value("status") != "ENGINE_UNSUPPORTED") return fail(std::move(time).error());
    if (time) check.milliseconds = *time;
    done = time.has_value();
  }
  if (done && device.id.type == ENGINE_CPU) check.cpu_milliseconds = check.milliseconds;
  if (done && device.id.type != ENGINE_CPU) {
    TRY_ASSIGN(const std::vector<Device> devices, engine.devices());
    for (const Device& other : devices)
      if (std::string ignored; other.id.type == ENGINE_CPU && check.cpu_milliseconds == 0)
        check.cpu_milliseconds = multiply(engine, other, options, ignored).value_or(0);
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
