// engine-info --bench: times two operations on each device: a vector addition, which memory bounds, and a
// matrix product, which arithmetic bounds. gnuplot, which is searched in PATH, draws the results.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/named_file.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/commands/engine_info.hpp"
#include "host/commands/entry.hpp"
#include "host/commands/npy.hpp"
#include "host/explain/explain.hpp"
#include "host/load/in_process/tensors.hpp"
#include "host/manifest/repository.hpp"
#include "tools/commands/from_index.hpp"

namespace enginehost::commands {
namespace {

struct BenchLine {
  std::string operation;  // "Add", "MatMul"
  std::string shape;      // "99000000", "2048 x 2048"
  std::string device;
  double milliseconds = 0;  // median of the runs, data on the device already
  double rate = 0;          // GB/s moved, or GFLOP/s
  std::string unit;         // of the rate
  double transfer_ms = 0;   // inputs to the device and the result back; 0 on cpu
  double times_cpu = 0;     // cpu's median divided by this one; 0 when there is no cpu
  std::optional<Diagnosis> failure;
};
using BenchReport = std::vector<BenchLine>;

constexpr int bench_runs = 5;  // after one to warm up
constexpr std::int64_t add_length = 99'000'000;
constexpr std::int64_t matrix_size = 2048;

engine_tensor view_of(void* data, engine_device device, const std::vector<std::int64_t>& shape) {
  engine_tensor tensor{};
  tensor.data = data;
  tensor.device = device;
  tensor.ndim = static_cast<std::int32_t>(shape.size());
  tensor.dtype = {ENGINE_FLOAT, 32, 1};
  tensor.shape = shape.data();
  return tensor;
}

// Reuses the memory of the result, because new pages would cost more than the addition.
class ReusedResult {
 public:
  explicit ReusedResult(const engine_tensor& tensor) : tensor_(tensor) {
    results_.size = sizeof results_;
    results_.host_data = this;
    results_.place = [](engine_results* results, std::uint32_t, const char*,
                        const engine_tensor*) noexcept -> const engine_tensor* {
      return &static_cast<ReusedResult*>(results->host_data)->tensor_;
    };
    results_.give = [](engine_results*, std::uint32_t, const char*, engine_owned_tensor* given) noexcept {
      const load::OwnedTensor gone(given);
    };
  }
  ReusedResult(const ReusedResult&) = delete;
  ReusedResult& operator=(const ReusedResult&) = delete;
  engine_results* get() { return &results_; }

 private:
  engine_tensor tensor_;
  engine_results results_{};
};

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// Fails with EH-P10 if the call was canceled. Not every engine checks the token during an operation.
Result<void> go_on(const std::optional<CancelToken>& cancel) {
  if (cancel && cancel->canceled()) return fail(diagnose(Code::canceled));
  return {};
}

// Fills in the milliseconds and transfer_ms of a line.
Result<void> time_operation(open::Opened& opened, const load::Device& device,
                            const std::vector<std::int64_t>& shape, const std::optional<CancelToken>& cancel,
                            BenchLine& line) {
  TRY(go_on(cancel));
  load::Engine& engine = *opened.engine;
  // Both inputs have the same values: these arrays are large.
  Array values = make_array({ENGINE_FLOAT, 32, 1}, shape);
  float* const floats = reinterpret_cast<float*>(values.data());
  for (std::size_t i = 0; i < values.bytes() / sizeof(float); ++i)
    floats[i] = static_cast<float>(i % 17) * 0.25f;
  const engine_tensor host = view_of(values.data(), {ENGINE_CPU, 0}, shape);
  const bool on_cpu = device.id.type == ENGINE_CPU;
  const engine_tensor like = view_of(nullptr, device.id, shape);
  load::CallOptions options;
  options.cancel = cancel;
  TRY_ASSIGN(const load::OwnedTensor answer, load::create_tensor(engine, like, options));
  TRY_ASSIGN(const load::OwnedTensor device_first, load::create_tensor(engine, like, options));
  TRY_ASSIGN(const load::OwnedTensor device_second, load::create_tensor(engine, like, options));
  const auto transfer_begin = std::chrono::steady_clock::now();
  TRY(load::copy_tensor(engine, host, device_first->tensor, options));
  TRY(load::copy_tensor(engine, host, device_second->tensor, options));
  if (!on_cpu) line.transfer_ms = milliseconds_since(transfer_begin);

  const engine_tensor* inputs[] = {&device_first->tensor, &device_second->tensor};
  ReusedResult result(answer->tensor);
  std::vector<double> times;
  for (int run = 0; run <= bench_runs; ++run) {
    TRY(go_on(cancel));
    load::Call call(options);
    const auto begin = std::chrono::steady_clock::now();
    TRY(call.finish(engine.op_table()->run(engine.instance(), line.operation.c_str(), inputs, 2, nullptr, 0,
                                           result.get(), call.get())));
    if (run > 0) times.push_back(milliseconds_since(begin));
  }
  if (!on_cpu) {
    const auto back = std::chrono::steady_clock::now();
    TRY(load::copy_tensor(engine, answer->tensor, host, options));
    line.transfer_ms += milliseconds_since(back);
  }
  std::nth_element(times.begin(), times.begin() + bench_runs / 2, times.end());
  line.milliseconds = times[bench_runs / 2];
  return {};
}

// Adds 9.9e7 floats (three arrays of 0.4 GB on the device, one of them also here) and multiplies 2048 x 2048
// matrices. An engine without operations gets lines with EH-S18.
BenchReport run_bench(open::Opened& opened, const std::optional<CancelToken>& cancel) {
  BenchReport report;
  struct Work {
    const char* operation;
    std::string shape_text;
    std::vector<std::int64_t> shape;
    double amount;  // bytes moved or operations done, divided by 1e6: with ms it gives GB/s and GFLOP/s
    const char* unit;
  };
  const double n = static_cast<double>(matrix_size);
  const Work works[] = {
      {"Add", "99000000 floats", {add_length}, 3.0 * 4 * static_cast<double>(add_length) / 1e6, "GB/s"},
      {"MatMul", "2048 x 2048", {matrix_size, matrix_size}, 2 * n * n * n / 1e6, "GFLOP/s"}};
  for (const Work& work : works) {
    double cpu = 0;
    for (const load::Device& device : opened.devices) {
      BenchLine line;
      line.operation = work.operation;
      line.shape = work.shape_text;
      line.device = device.text();
      line.unit = work.unit;
      if (opened.engine->op_table() == nullptr || opened.engine->tensor_table() == nullptr) {
        line.failure = std::move(
            diagnose(Code::not_offered_by_engine).with(Key::table, "engine.op/1 and engine.tensor/1"));
      } else if (auto timed = time_operation(opened, device, work.shape, cancel, line); !timed) {
        line.failure = std::move(timed).error();
      } else {
        line.rate = work.amount / line.milliseconds;
        if (device.id.type == ENGINE_CPU) cpu = line.milliseconds;
        line.times_cpu = cpu / line.milliseconds;
      }
      report.push_back(std::move(line));
    }
  }
  return report;
}

std::string describe(const BenchReport& report) {
  std::string text = "  operation                device          time        rate     transfer  x cpu\n";
  for (const BenchLine& line : report) {
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "  %-7s %-16s %-8s ", line.operation.c_str(), line.shape.c_str(),
                  line.device.c_str());
    text += numbers;
    if (line.failure) {
      text += explain::one_line(*line.failure) + "\n";
      continue;
    }
    std::snprintf(numbers, sizeof numbers, "%8.1f ms %8.1f %-7s %5.1f ms %6.1f\n", line.milliseconds,
                  line.rate, line.unit.c_str(), line.transfer_ms, line.times_cpu);
    text += numbers;
  }
  return text;
}

Json to_json(const BenchReport& report) {
  Json lines = Json::array();
  for (const BenchLine& line : report)
    lines.push(Json::object()
                   .set("operation", line.operation)
                   .set("shape", line.shape)
                   .set("device", line.device)
                   .set("milliseconds", line.milliseconds)
                   .set("rate", line.rate)
                   .set("unit", line.unit)
                   .set("transfer_ms", line.transfer_ms)
                   .set("times_cpu", line.times_cpu)
                   .set("diagnosis", line.failure ? explain::to_json(*line.failure) : Json()));
  return Json::object().set("runs", bench_runs).set("lines", std::move(lines));
}

constexpr std::size_t largest_picture = 16u << 20;

std::string terminal_of(const std::filesystem::path& file) {
  const std::string ending = path_text(file.extension());
  if (ending == ".png") return "pngcairo size 1400,700 font 'sans,15'";
  if (ending == ".svg") return "svg size 1400,700 font 'sans,18' background 'white'";
  return "";
}

Result<ChildOutcome> gnuplot(std::string script) {
  ChildRequest request;
  request.argv = {"gnuplot"};
  request.environment = {"GNUTERM"};
  request.input = std::move(script);
  request.keep_bytes = largest_picture;
  return run_by_name(std::move(request));
}

Diagnosis cannot_draw(const std::filesystem::path& file, const Diagnosis& failure) {
  Diagnosis reported =
      diagnose(Code::picture_not_drawn).with(Key::file, path_text(file)).with(Key::program, "gnuplot");
  if (const auto said = failure.value(Key::os_said); !said.empty()) reported.with(Key::os_said, said);
  for (const Evidence& evidence : failure.evidence)
    if (evidence.what == Key::skipped) reported.evidence.push_back(evidence);
  return reported;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Returns the lines in gnuplot's double quotes, without the characters that are special there.
std::string quoted(const std::string& text, const std::string& second = {}) {
  std::string out = "\"";
  const auto add = [&](const std::string& line) {
    for (const char one : line)
      if (one != '"' && one != '\\' && static_cast<unsigned char>(one) >= ' ') out += one;
  };
  add(text);
  if (!second.empty()) out += "\\n";
  add(second);
  return out + "\"";
}

std::vector<std::string> operations_of(const BenchReport& report) {
  std::vector<std::string> operations;
  for (const BenchLine& line : report)
    if (!line.failure && std::find(operations.begin(), operations.end(), line.operation) == operations.end())
      operations.push_back(line.operation);
  return operations;
}

std::string rounded(double value) {
  char text[40];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  return text;
}

// Returns "99 000 000 floats" for "99000000 floats".
std::string grouped(const std::string& shape) {
  const std::size_t digits = std::min(shape.find_first_not_of("0123456789"), shape.size());
  std::string out = shape;
  for (std::size_t at = digits; digits > 4 && at > 3;) out.insert(at -= 3, " ");
  return out;
}

// Returns the quoted text above a bar: the times, and below them the rate.
std::string label_of(const BenchLine& line) {
  std::string text = rounded(line.milliseconds);
  if (line.transfer_ms > 0) text += " + " + rounded(line.transfer_ms);
  return quoted(text + " ms", rounded(line.rate) + " " + line.unit);
}

bool has_transfers(const BenchReport& report) {
  return std::any_of(report.begin(), report.end(),
                     [](const BenchLine& line) { return !line.failure && line.transfer_ms > 0; });
}

// The two lines above the panels.
struct PlotTitle {
  std::string build;    // "onnxruntime 1.27.0 cpu"
  std::string machine;  // "AMD EPYC 7763, 8 cores, 2026-11-21"
};

std::string script_of(const BenchReport& report, const PlotTitle& title, const std::string& terminal) {
  const std::vector<std::string> operations = operations_of(report);
  const bool transfers = has_transfers(report);
  std::string data, panels;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string block = "$operation" + std::to_string(i);
    data += block + " << END_OF_ROWS\n";
    std::string shape;
    std::size_t bars = 0;
    for (const BenchLine& line : report) {
      if (line.failure || line.operation != operations[i]) continue;
      data += quoted(line.device) + " " + number(line.milliseconds) + " " + number(line.transfer_ms) + " " +
              label_of(line) + "\n";
      shape = line.shape;
      ++bars;
    }
    data += "END_OF_ROWS\n";
    panels += "set title " + quoted(operations[i] + ", " + grouped(shape)) +
              "\nset xrange [-0.8:" + number(static_cast<double>(bars) - 0.2) + "]\nplot " + block +
              " using 2:xtic(1) title 'computing' linecolor rgb '#4f6d8a'";
    if (transfers) panels += ", '' using 3 title 'transfers' linecolor rgb '#c5ced6'";
    panels += ", '' using 0:($2+$3):4 with labels offset 0,1.8 noenhanced notitle\n";
  }
  return "set terminal " + terminal + "\n" + data +
         "set style data histograms\nset style histogram rowstacked\nset style fill solid 1 noborder\n"
         "set boxwidth 0.5 relative\nset yrange [0:*]\nset offsets 0, 0, graph 0.2, 0\n"
         "set ylabel 'milliseconds, median of " +
         std::to_string(bench_runs) +
         " runs'\nset grid ytics linetype 1 linecolor rgb '#dddddd'\nset border 3 linecolor rgb '#555555'\n"
         "set tics nomirror\n" +
         (transfers ? "set key outside below center horizontal noenhanced\n" : "unset key\n") +
         "set xtics noenhanced\nset title noenhanced\nset multiplot layout 1," +
         std::to_string(operations.size()) + " title " + quoted(title.build, title.machine) +
         " noenhanced\n" + panels + "unset multiplot\n";
}

// Checks that a picture can be drawn into that file. Errors: EH-P48 if its name ends neither in .png nor in
// .svg, or if there is no gnuplot.
Result<void> can_plot(const std::filesystem::path& file) {
  if (terminal_of(file).empty())
    return fail(std::move(diagnose(Code::picture_not_drawn)
                              .with(Key::file, path_text(file))
                              .with(Key::ending, path_text(file.extension()))));
  const auto asked = gnuplot("");
  if (!asked) return fail(cannot_draw(file, asked.error()));
  return {};
}

// Draws one panel per operation with one bar per device: the milliseconds of computing, and above them those
// of the transfers. Omits lines that failed, and transfers if all of them are 0. Replaces the file as a
// whole. Errors: EH-P48 with gnuplot's message, or if the file cannot be written.
Result<void> plot(const BenchReport& report, const PlotTitle& title, const std::filesystem::path& file) {
  if (operations_of(report).empty())
    return fail(std::move(diagnose(Code::picture_not_drawn)
                              .with(Key::file, path_text(file))
                              .with(Key::nothing, "no operation was measured")));
  const auto drawn = gnuplot(script_of(report, title, terminal_of(file)));
  if (!drawn) return fail(cannot_draw(file, drawn.error()));
  if (!drawn->succeeded() || drawn->output.empty())
    return fail(std::move(diagnose(Code::picture_not_drawn)
                              .with(Key::file, path_text(file))
                              .with(Key::program, "gnuplot")
                              .with(Key::said, drawn->error.substr(0, 400))));
  TRY_ASSIGN(const std::filesystem::path place, place_for_file(file, "engine-info"));
  if (const auto written = write_file(place, drawn->output); !written)
    return fail(std::move(diagnose(Code::picture_not_drawn)
                              .with(Key::file, path_text(file))
                              .with(Key::write_error, std::string(written.error().value(Key::os_said)))));
  return {};
}

// Returns the title of a picture: engine and build, then the machine and the day.
PlotTitle plot_title(open::OpenContext& context, const open::Opened& opened) {
  PlotTitle title;
  const cache::Installed& build = opened.installed;
  title.build = build.build.empty() ? path_text(path_of(build.plugin).filename())
                                    : build.engine + " " + build.version + " " + build.flavor;
  std::vector<std::string> machine;
  const platform::Cpu& cpu = context.platform().cpu.value();
  if (!cpu.model.empty()) machine.push_back(cpu.model);
  if (cpu.cores > 0) machine.push_back(pluralize(static_cast<std::uint64_t>(cpu.cores), "core", "cores"));
  for (const load::Device& device : opened.devices)
    if (device.id.type != ENGINE_CPU && !device.name.empty()) machine.push_back(device.name);
  machine.push_back(text_of_time(open::OpenContext::now()).substr(0, 10));
  title.machine = join(machine, ", ");
  return title;
}

// The flags of the measurement.
struct BenchFlags {
  bool asked = false;
  std::string plot;
};

Measured measure(open::OpenContext& context, open::Opened& opened, const std::string& file) {
  const BenchReport report = run_bench(opened, context.cancel());
  if (context.cancel() && context.cancel()->canceled()) return {};
  Result<void> drawn;
  if (!file.empty()) drawn = plot(report, plot_title(context, opened), path_of(file));
  const bool is_drawn = drawn && !file.empty();
  Measured measured;
  measured.text = describe(report) + (is_drawn ? "  plot in " + file + "\n" : "");
  measured.document = to_json(report)
                          .set("plot", is_drawn ? Json(file) : Json())
                          .set("plot_diagnosis", drawn ? Json() : explain::to_json(drawn.error()));
  if (!drawn) measured.failure = std::move(drawn).error();
  return measured;
}

Measurement add_bench(CLI::App& app, const char* group) {
  const auto flags = std::make_shared<BenchFlags>();
  CLI::Option* const bench =
      app.add_flag("--bench", flags->asked, "time an add and a matmul on each device against cpu")
          ->group(group);
  app.add_option("--plot", flags->plot,
                 "with --bench: draw the figures into FILE.png or FILE.svg (needs gnuplot)")
      ->type_name("FILE")
      ->group(group)
      ->needs(bench);
  return {[flags] { return flags->asked; },
          [flags]() -> Result<void> {
            return flags->plot.empty() ? Result<void>() : can_plot(path_of(flags->plot));
          },
          [flags](open::OpenContext& context, open::Opened& opened) {
            return measure(context, opened, flags->plot);
          }};
}

}  // namespace
}  // namespace enginehost::commands

int engine_command_info(int argc, char** argv) {
  using namespace enginehost::commands;
  return run_engine_info(argc, argv, add_bench, add_from_index);
}
