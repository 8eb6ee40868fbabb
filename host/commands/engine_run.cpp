#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/files.hpp"
#include "base/named_file.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/common.hpp"
#include "host/commands/device_checks.hpp"
#include "host/commands/engine_run.hpp"
#include "host/commands/help.hpp"
#include "host/commands/npy.hpp"
#include "host/commands/output_files.hpp"
#include "host/commands/program.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "host/load/in_process/model.hpp"
#include "host/load/in_process/reported_text.hpp"
#include "host/open/open.hpp"

namespace enginehost::commands {
namespace {

struct Flags {
  CommonFlags common;
  EngineConstraints asked;
  std::string model, output;
  std::vector<std::string> inputs;
  int repeat = 1;
  DerivedBuilds derived;
};

void add_flags(CLI::App& app, Flags& flags, AddDerivedBuilds add_derived) {
  app.name("engine-run");
  app.add_option("ENGINE[@VERSION]", flags.asked.engine, "the engine to run the model with")->required();
  app.add_option("MODEL", flags.model, "the model: a file or a folder")->required();
  const char* group = "Running";
  repeatable(app.add_option("--input", flags.inputs,
                            "one input of the model; repeatable. Without any, the model's inputs are listed"))
      ->type_name("NAME=FILE")
      ->group(group);
  app.add_option("--output", flags.output, "a folder for the results, one NAME.npy each")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--repeat", flags.repeat, "run so often (1 to 1000000) and print the median time")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->group(group);
  add_choice(app, flags.asked, flags.common, "Choosing", "the device to run on: cpu, cuda:0, gpu (any), ...");
  if (add_derived != nullptr) flags.derived = add_derived(app, "Choosing");
  flags.common.add_to(app);
}

struct NamedArray {
  std::string name;
  Array array;
  engine_tensor tensor{};
};

Result<std::vector<NamedArray>> read_inputs(const std::vector<std::string>& arguments) {
  std::vector<NamedArray> inputs;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == argument.size())
      return fail(wrong_usage("engine-run", "--input " + argument + " is not NAME=FILE.npy"));
    NamedArray input;
    input.name = argument.substr(0, equals);
    TRY_ASSIGN(input.array, read_npy(path_of(argument.substr(equals + 1))));
    inputs.push_back(std::move(input));
  }
  // Tensors point into the arrays, which no longer move.
  for (NamedArray& input : inputs) {
    input.tensor.data = input.array.data();
    input.tensor.device = {ENGINE_CPU, 0};
    input.tensor.ndim = static_cast<std::int32_t>(input.array.shape.size());
    input.tensor.dtype = input.array.type;
    input.tensor.shape = input.array.shape.data();
  }
  return inputs;
}

Json ports_document(const engine_port* ports, std::size_t count) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i)
    list.push(Json::object()
                  .set("name", load::reported_text(ports[i].name))
                  .set("type", load::describe_port(ports[i]))
                  .set("optional", (ports[i].flags & ENGINE_PORT_OPTIONAL) != 0));
  return list;
}

std::string ports_text(const char* label, const engine_port* ports, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += std::string("  ") + label + "  " +
            printable_line(load::reported_text(ports[i].name) + "  " + load::describe_port(ports[i])) + "\n";
  return text;
}

struct Run {
  std::vector<std::unique_ptr<load::Output>> outputs;
  std::vector<double> milliseconds;
};

std::vector<RunOutput> outputs_of(const engine_function& function, const Run& run) {
  std::vector<RunOutput> outputs;
  for (const auto& output : run.outputs) {
    const bool known = output->number < function.output_count;
    const std::string port = known ? load::reported_text(function.outputs[output->number].name) : "";
    const std::string name = known ? port : "output" + std::to_string(output->number);
    outputs.push_back({port, output->name.empty() ? name : name + "." + load::reported_text(output->name),
                       &output->tensor()});
  }
  return outputs;
}

Result<Run> run_model(load::Model& model, const std::vector<NamedArray>& inputs, const Flags& flags,
                      const CancelToken& cancel) {
  std::vector<load::NamedTensor> tensors;
  for (const NamedArray& input : inputs) tensors.push_back({input.name, &input.tensor});
  Run run;
  for (int i = 0; i < flags.repeat; ++i) {
    load::CallOptions call;
    call.cancel = cancel;
    const auto begin = std::chrono::steady_clock::now();
    TRY_ASSIGN(run.outputs, model.run(tensors, call));
    run.milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(run.milliseconds.begin(), run.milliseconds.end());
  return run;
}

// Loads and runs the model in the open engine, and adds the result to the document and the text. Returns the
// failures of outputs that could not be written.
Result<std::vector<Diagnosis>> run_in(open::Opened& opened, const resolve::Request& opened_for,
                                      const std::vector<NamedArray>& inputs, const Flags& flags,
                                      const CancelToken& cancel, Json& document, std::string& text) {
  load::ModelRequest request;
  std::error_code error;
  request.file = std::filesystem::absolute(path_of(flags.model), error);
  const std::vector<std::string> requested = resolve::devices_of(opened_for.device);
  const load::Device* const device = requested.empty()
                                         ? load::usual_device(opened.devices)
                                         : load::first_meant(opened.devices, join(requested, ","));
  request.device = device != nullptr ? device->text() : join(requested, ",");
  load::CallOptions call;
  call.cancel = cancel;
  TRY_ASSIGN(const std::unique_ptr<load::Model> model, load::Model::load(*opened.engine, request, call));
  const engine_function& function = model->function();
  Json reported = Json::object()
                      .set("file", path_text(request.file))
                      .set("inputs", ports_document(function.inputs, function.input_count))
                      .set("outputs", ports_document(function.outputs, function.output_count));
  document.set("model", std::move(reported));
  if (inputs.empty() && function.input_count > 0 && flags.output.empty()) {
    text += ports_text("input ", function.inputs, function.input_count) +
            ports_text("output", function.outputs, function.output_count);
    return std::vector<Diagnosis>();
  }
  Result<Run> ran = run_model(*model, inputs, flags, cancel);
  // The wrong argument of the API came from a flag of this command.
  if (!ran && ran.error().code == Code::api_argument_wrong)
    return fail(wrong_usage("engine-run", "--input: " + std::string(ran.error().value(Key::problem))));
  // Some engines read the whole model only when it runs.
  if (!ran && ran.error().value(Key::status) == "ENGINE_CORRUPT")
    ran.error().with(Key::model, path_text(request.file));
  TRY_ASSIGN(const Run run, std::move(ran));
  TRY_ASSIGN(OutputFiles outputs, write_outputs(outputs_of(function, run), path_of(flags.output)));
  text += outputs.text;
  char time[96];
  const double median = run.milliseconds[run.milliseconds.size() / 2];
  std::snprintf(time, sizeof time, "  ran in %.2f ms (median of %d)", median, flags.repeat);
  const CheckedDevice checked = check_one(opened, model->device_name(), cancel);
  text += time + (" on " + model->device_name() + "\n") + describe(std::vector{checked});
  document.set("outputs", std::move(outputs.document))
      .set("run", Json::object()
                      .set("repeat", flags.repeat)
                      .set("median_ms", median)
                      .set("device", model->device_name())
                      .set("checked", to_json(checked)));
  return std::move(outputs.failures);
}

Result<int> run_command(int argc, char** argv, AddDerivedBuilds add_derived) {
  CLI::App app{"run one model once with an engine that fits this machine"};
  Flags flags;
  add_flags(app, flags, add_derived);
  if (const auto status = parse(app, argc, argv)) return *status;
  open::OpenRequest request;
  TRY_ASSIGN(request.request, request_of("engine-run", flags.asked));
  TRY(go_on_as_owner(flags.common));
  // Wrong inputs are reported before anything is fetched or loaded.
  TRY_ASSIGN(const std::vector<NamedArray> inputs, read_inputs(flags.inputs));
  if (!flags.output.empty()) {
    TRY(refuse_foreign_links(path_of(flags.output), "engine-run"));
    TRY(explain::mark_as_argument(make_folders(path_of(flags.output))));
  }
  TRY_ASSIGN(settings::Settings settings, settings_of(flags.common));
  if (flags.derived.asked()) TRY(flags.derived.add(flags.common, settings, request.request));
  // The new answers of repositories decide; and a decision is kept by its flags and its request.
  request.bypass_cache = flags.common.values.refresh || flags.derived.asked();
  open::DecisionCache decisions =
      flags.derived.asked() ? open::DecisionCache() : open::decisions_for(values_of(flags.common), request);
  const CancelToken cancel = cancel_on_signal();
  open::OpenContext context(std::move(settings), {}, cancel);
  open::Outcome& outcome = open_in_command(context, std::move(request), flags.common, std::move(decisions));
  Json document = flags.common.json ? open::document(context, outcome) : Json::object();
  print_warnings(context.warnings(), outcome.warnings, flags.common.quiet || flags.common.json,
                 flags.common.verbose);
  if (!outcome.opened) {
    if (flags.common.json)
      print(document);
    else if (outcome.diagnosis)
      say_failure(*outcome.diagnosis);
    return outcome.exit_status();
  }
  std::string text =
      outcome.opened->installed.build + (outcome.fallback ? "  (not what was asked for first)" : "") + "\n";
  const auto done = run_in(*outcome.opened, outcome.plan.request, inputs, flags, cancel, document, text);
  const std::vector<Diagnosis> failures = done ? *done : std::vector{done.error()};
  if (flags.common.json) {
    document.set("diagnosis", failures.empty() ? Json() : explain::to_json(failures.front()));
    print(document);
  } else {
    if (done) say_text(text);
    for (const Diagnosis& failure : failures) say_failure(failure);
  }
  return failures.empty() ? 0 : static_cast<int>(explain::exit_status(failures.front()));
}

}  // namespace

int run_engine_run(int argc, char** argv, AddDerivedBuilds add_derived) {
  add_help_texts({{"engine-run",
                   {{"engine-run onnxruntime model.onnx", "list the inputs and outputs of the model"},
                    {"engine-run onnxruntime model.onnx --input x=x.npy --output results",
                     "run it, and write one .npy file per output"}},
                   "settings.md"}});
  return guarded(argc, argv, [&](int, char**) { return run_command(argc, argv, add_derived); });
}

}  // namespace enginehost::commands
