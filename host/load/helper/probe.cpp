#include "host/load/helper/subcommands.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/file_calls.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "host/load/helper/answer_channel.hpp"
#include "host/load/helper/this_process.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/wire.hpp"

namespace enginehost::load {
namespace {

constexpr std::size_t longest_request = 4u << 20;

std::string read_standard_input() {
  constexpr int standard_input = 0;
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t got = calls::read(standard_input, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || text.size() > longest_request) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// Returns EH-R09 for each difference ("changed", "before", "after"). `own` also compares numbers.
std::vector<Diagnosis> differences(const helper::ProcessState& before, const helper::ProcessState& after,
                                   bool own) {
  std::vector<Diagnosis> found;
  const auto add = [&](std::string_view what, std::string_view was, std::string_view is) {
    found.push_back(std::move(diagnose(Code::engine_changes_process_state)
                                  .with(Key::changed, what)
                                  .with(Key::before, was)
                                  .with(Key::after, is)));
  };
  const auto compare = [&](const helper::ProcessState::Texts& all, const helper::ProcessState::Texts& now) {
    for (const auto& [what, was] : all)
      for (const auto& [same, is] : now)
        if (std::string_view(what) == same && was != is && !was.empty() && !is.empty()) add(what, was, is);
  };
  std::string handlers;
  for (std::size_t number = 1; number < before.handlers.size(); ++number)
    if (before.handlers[number] != after.handlers[number])
      handlers += (handlers.empty() ? "" : ", ") + signal_name(static_cast<int>(number));
  if (!handlers.empty())
    add("the signal handlers of " + handlers, "those of the program", "those of the engine");
  compare(before.shared, after.shared);
  if (own) compare(before.numbers, after.numbers);
  return found;
}

// The probe: ends with its parent, leaves no core file, and reports each stage as it begins.
class Probe {
 public:
  Probe(const Json& request, const std::string& nonce, helper::AnswerChannel& channel)
      : request_(request), nonce_(nonce), channel_(channel) {}

  int run() {
    const helper::ProcessState before = helper::look_at_process();
    LoadRequest load = load_request_from_json(request_);
    load.on_stage = [this](std::string_view stage) { enter(stage); };
    auto loaded = load_plugin(load);
    if (!loaded) return failed(std::move(loaded).error());
    plugin_ = std::move(*loaded);
    libraries_ = plugin_->libraries();
    warnings_ = plugin_->warnings();
    const helper::ProcessState loaded_state = helper::look_at_process();
    for (Diagnosis& difference : differences(before, loaded_state, true))
      warnings_.push_back(std::move(difference.with(Key::file, path_text(load.plugin))));
    const std::uint32_t mode = floating_point_mode();

    enter("create");
    EngineOptions options;
    options.host_name = "enginehost-probe";
    options.options = pairs_from_wire(request_["options"]);
    const auto log_level = static_cast<std::int32_t>(request_["log_level"].as_integer(0));
    if (log_level != 0) options.log_level = log_level;
    // A plugin's log goes to standard error, whose end the parent keeps, and to the listeners.
    options.log = [this, log_level](std::int32_t level, std::string_view topic, std::string_view message) {
      std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(topic.size()), topic.data(),
                   static_cast<int>(message.size()), message.data());
      const auto size = static_cast<std::int64_t>(topic.size() + message.size());
      if (log_level != 0 && log_left_.fetch_sub(size) >= size)
        channel_.write(Json::object().set("log", Json::array().push(level).push(topic).push(message)));
    };
    auto engine = Engine::create(plugin_, std::move(options));
    if (!engine) return failed(std::move(engine).error());
    engine_ = std::move(*engine);
    warnings_.insert(warnings_.end(), engine_->warnings().begin(), engine_->warnings().end());
    auto devices = engine_->devices();
    if (!devices) return failed(std::move(devices).error());
    devices_ = std::move(*devices);

    if (const auto level = static_cast<std::int32_t>(request_["self_test"].as_integer(-1)); level >= 0) {
      enter("selftest");
      // The parent needs the list if a self-test crashes.
      channel_.write(Json::object().set("listed", devices_to_wire(devices_)));
      if (auto tested = self_test(level); !tested) return failed(std::move(tested).error());
    }
    warn_of_changes(path_text(load.plugin), loaded_state, mode);
    succeeded();
    enter("unload");
    engine_.reset();
    plugin_.reset();
    channel_.write(Json::object().set("unloaded", true));
    end_as_programs_do();
  }

 private:
  void enter(std::string_view stage) {
    stage_ = stage;
    channel_.write(Json::object().set("stage", stage));
  }

  // Warns of changes that creating and testing the engine made to the process.
  void warn_of_changes(const std::string& file, const helper::ProcessState& before, std::uint32_t mode) {
    constexpr std::string_view when = "making or testing the engine";
    for (Diagnosis& difference : differences(before, helper::look_at_process(), false))
      warnings_.push_back(std::move(difference.with(Key::file, file).with(Key::when, when)));
    if (floating_point_mode() == mode) return;
    warnings_.push_back(std::move(diagnose(Code::engine_changes_floating_point)
                                      .with(Key::file, file)
                                      .with(Key::when, when)
                                      .with(Key::before, hexadecimal(mode), "MXCSR")
                                      .with(Key::after, hexadecimal(floating_point_mode()), "MXCSR")));
  }

  // Runs the destructors and exit handlers of the loaded libraries, which run when a program ends. A timeout
  // ends one that hangs.
  [[noreturn]] void end_as_programs_do() {
    enter("exit");
    constexpr unsigned seconds_to_end = 2;
    helper::end_within(seconds_to_end, channel_.descriptor(), nonce_.c_str());
    std::exit(0);
  }

  int failed(Diagnosis diagnosis) {
    if (diagnosis.value(Key::stage).empty()) diagnosis.with(Key::stage, stage_);
    const helper::MemoryUse memory = helper::memory_use();
    report(Json::object()
               .set("failed", diagnosis_to_wire(diagnosis))
               .set("warnings", warnings())
               .set("memory", Json::array()
                                  .push(memory.bytes)
                                  .push(memory.limit)
                                  .push(memory.space)
                                  .push(memory.space_limit)));
    std::fflush(stdout);  // the output of a library is evidence
    helper::leave_at_once(1);
  }

  void succeeded() {
    Json answer = Json::object();
    answer.set("ok", request_["nonce"].as_string())
        .set("facts", pairs_to_wire(engine_->facts()))
        .set("devices", devices_to_wire(devices_))
        .set("tested", tested_)
        .set("libraries", libraries_to_wire(libraries_))
        .set("warnings", warnings());
    report(answer);
  }

  // Ends with its own exit status when the channel is closed; otherwise the build would seem to have ended
  // the process quietly.
  void report(const Json& answer) {
    if (!channel_.write(answer)) helper::leave_at_once(status_without_answer);
  }

  Json warnings() const {
    Json list = Json::array();
    for (const Diagnosis& warning : warnings_) list.push(diagnosis_to_wire(warning));
    return list;
  }

  // Fails if no device works. The parent decides about a build of which some do.
  Result<void> self_test(std::int32_t level) {
    for (const Device& device : devices_to_test()) test(device.text(), device.id, level);
    ask_why_none_is_listed(level);
    if (passed_) return {};
    if (first_failure_) return fail(std::move(*first_failure_));
    Diagnosis why = no_device(level, diagnose(Code::no_gpu_offered).with(Key::devices, offered()));
    // Having no device is no error for a build that promises nothing but the processor.
    if (why.code == Code::no_gpu_offered && !promises_accelerator()) return {};
    return fail(std::move(why));
  }

  // Several cards may differ: each is tested.
  std::vector<Device> devices_to_test() const {
    const auto& wanted = request_["devices"].as_array();
    const auto is_wanted = [&](const Device& device) {
      return std::ranges::any_of(wanted,
                                 [&](const Json& text) { return device.is_meant_by(text.as_string()); });
    };
    const bool only_processors = !wanted.empty() && std::ranges::all_of(wanted, [&](const Json& text) {
      return std::ranges::any_of(devices_, [&](const Device& device) {
        return !device.is_accelerator() && device.is_meant_by(text.as_string());
      });
    });
    std::vector<Device> chosen;
    bool has_processor = false;
    for (const Device& device : devices_) {
      if (device.is_accelerator() ? !only_processors && !is_skipped(device)
                                  : !has_processor || is_wanted(device))
        chosen.push_back(device);
      has_processor = has_processor || !device.is_accelerator();
    }
    return chosen;
  }

  // Its self-test crashed or hung in an earlier run.
  bool is_skipped(const Device& device) const {
    return std::ranges::any_of(request_["skipped"].as_array(), [&](const Json& name) {
      return name.as_string() == device.text() || name.as_string() == every_accelerator;
    });
  }

  void test(const std::string& name, engine_device device, std::int32_t level) {
    const bool is_accelerator = device.type != ENGINE_CPU;
    if (is_accelerator) channel_.write(Json::object().set("testing", name));
    auto tested = engine_->self_test(level, device);
    if (is_accelerator) channel_.write(Json::object().set("testing", ""));
    Json result = Json::object().set("device", name).set("accelerator", is_accelerator);
    if (tested) {
      passed_ = true;
    } else {
      Diagnosis failure = std::move(tested.error().with(Key::device, name).with(Key::stage, "selftest"));
      result.set("failed", diagnosis_to_wire(failure));
      if (!first_failure_) first_failure_ = std::move(failure);
    }
    tested_.push(std::move(result));
  }

  // An engine that lists no device of the build's kind knows the reason best: a self-test of the first one
  // has to fail, and returns the message of the layer below.
  void ask_why_none_is_listed(std::int32_t level) {
    const std::string& kind = request_["accelerator"].as_string();
    if (kind.empty() || devices_.empty() || std::ranges::any_of(devices_, &Device::is_accelerator)) return;
    Diagnosis why = diagnose(Code::no_gpu_offered);
    why.with(Key::device, kind + ":0").with(Key::devices, offered());
    engine_device promised{};
    if (parse_device(kind + ":0", promised))
      if (auto tested = engine_->self_test(level, promised); !tested) why = std::move(tested).error();
    tested_.push(Json::object()
                     .set("device", kind + ":0")
                     .set("accelerator", true)
                     .set("listed", false)
                     .set("failed", diagnosis_to_wire(why.with(Key::stage, "selftest"))));
  }

  bool promises_accelerator() const {
    return std::ranges::any_of(engine_->capabilities(), [](const std::string& capability) {
      return capability.starts_with("device.") && capability != "device.cpu";
    });
  }

  // An engine without devices knows the reason best: a self-test of the device that its capabilities promise
  // has to fail, and returns the message of the layer below.
  Diagnosis no_device(std::int32_t level, Diagnosis otherwise) {
    if (!devices_.empty()) return otherwise;
    for (const std::string& capability : engine_->capabilities()) {
      constexpr std::string_view prefix = "device.";
      engine_device promised{};
      if (!capability.starts_with(prefix) || !parse_device(capability.substr(prefix.size()) + ":0", promised))
        continue;
      auto tested = engine_->self_test(level, promised);
      if (!tested && !tested.error().value(Key::origin).empty()) return std::move(tested).error();
    }
    return otherwise;
  }

  std::string offered() const {
    std::string list;
    for (const Device& device : devices_) list += (list.empty() ? "" : ", ") + device.text();
    return list.empty() ? "no device" : list;
  }

  const Json& request_;
  const std::string& nonce_;  // lives until the very end
  helper::AnswerChannel& channel_;
  std::string stage_ = "start";
  std::atomic<std::int64_t> log_left_{std::int64_t{1} << 20};  // bytes; the channel also carries the answer
  std::shared_ptr<LoadedPlugin> plugin_;
  std::unique_ptr<Engine> engine_;
  std::vector<Library> libraries_;
  std::vector<Device> devices_;
  std::vector<Diagnosis> warnings_;
  Json tested_ = Json::array();
  bool passed_ = false;  // the self-test of a device
  std::optional<Diagnosis> first_failure_;
};

}  // namespace

int run_probe() {
  helper::supervise();
  helper::prepare_process();
  const auto request = parse_json(read_standard_input(), "standard input");
  if (!request) {
    std::fprintf(stderr, "enginehost-probe probe: no request on standard input: %s\n",
                 std::string(request.error().value(Key::problem)).c_str());
    return 2;
  }
  // The crash handler holds a pointer to it until the very end.
  const std::string& nonce = *new std::string((*request)["nonce"].as_string());
  helper::AnswerChannel channel(nonce);
  helper::report_crashes(channel.descriptor(), nonce.c_str());
  channel.write(Json::object().set("stage", "start"));
  helper::set_limits(static_cast<std::uint64_t>((*request)["memory"].as_integer(0)));
  return Probe(*request, nonce, channel).run();
}

}  // namespace enginehost::load
