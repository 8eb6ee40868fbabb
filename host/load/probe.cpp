#include "host/load/probe.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "host/linker/machine.hpp"
#include "host/load/probe_outcome.hpp"
#include "host/load/wire.hpp"

namespace enginehost::load {
namespace {

Json request_document(const ProbeRequest& request, const std::string& nonce) {
  Json document = Json::object();
  document.set("format", 1).set("nonce", nonce);
  add_load_request(document, request.load);
  document.set("options", pairs_to_wire(request.options))
      .set("log_level", request.log_level)
      .set("devices", Json::strings(request.devices))
      .set("accelerator", request.accelerator)
      .set("skipped", Json::strings(request.skipped))
      .set("self_test", request.self_test)
      .set("memory", request.memory_bytes);
  return document;
}

ProbeResult probe_once(const ProbeRequest& request) {
  const std::string nonce = random_hex(16);
  auto outcome = run_helper(request, nonce);
  if (!outcome) {
    ProbeResult result;
    result.stage = "start";
    result.diagnosis = std::move(outcome).error();
    return result;
  }
  return judge(*outcome, nonce, request);
}

// True if the build's code crashed or hung.
bool is_crash(const ProbeResult& result) {
  constexpr Code crashes[] = {Code::illegal_instruction,           Code::build_crashed,
                              Code::engine_ended_process,          Code::engine_ended_process_quietly,
                              Code::engine_does_not_start_in_time, Code::stack_overflow,
                              Code::exception_across_abi,          Code::probe_killed,
                              Code::run_time_library_missing};
  return !result.passed && result.diagnosis &&
         std::find(std::begin(crashes), std::end(crashes), result.diagnosis->code) != std::end(crashes);
}

// True for results that a second attempt could contradict: a crash may be a transient state of the machine, a
// report is not. The self-test of an accelerator that hung took three times what a self-test may take.
bool worth_another_try(const ProbeResult& result) {
  // A process that survives SIGKILL is stuck in a driver, where a second one would be stuck too.
  return is_crash(result) && result.diagnosis->value(Key::survived_kill).empty() &&
         (result.testing.empty() || result.diagnosis->code != Code::engine_does_not_start_in_time);
}

// A text that names a missing library contains neither who needs it nor where it was searched, and a later
// look at the files is only a reconstruction. The loader itself is therefore asked once more, and only in
// this case.
bool is_failed_search(const ProbeResult& result) {
  return !result.passed && result.diagnosis && (result.stage == "preload" || result.stage == "load") &&
         (result.diagnosis->code == Code::library_missing ||
          result.diagnosis->code == Code::security_policy_forbids ||
          result.diagnosis->code == Code::library_not_readable);
}

}  // namespace

Result<ChildOutcome> run_helper(const ProbeRequest& request, const std::string& nonce,
                                const std::filesystem::path& audit, const std::string& audit_nonce) {
  ChildRequest child;
  child.argv = request.launcher;
  child.argv.push_back(path_text(request.helper));
  child.argv.emplace_back("probe");
  child.environment = linker::loader_variables_for_child();
  if (!audit.empty()) {
    child.argv.insert(child.argv.end(), {"--audit", audit_nonce});
    std::erase_if(child.environment,
                  [](const std::string& change) { return change.starts_with("LD_AUDIT"); });
    child.environment.push_back("LD_AUDIT=" + path_text(audit));
  }
  child.input = request_document(request, nonce).dump();
  child.deadline = request.deadline;
  child.channel_bytes = channel_bytes;
  child.private_channel = true;
  // The probe answers here once its channel is closed, after whatever the build has printed.
  child.output_bytes = channel_bytes;
  child.cancel = request.cancel;
  child.ends_descendants = probe_ends_descendants;
  child.memory_bytes = request.memory_bytes;
  return run_child(child);
}

namespace {

ProbeResult probe_twice(const ProbeRequest& request) {
  ProbeResult first = probe_once(request);
  if (is_failed_search(first)) ask_loader(request, *first.diagnosis);
  if (!worth_another_try(first)) return first;
  const bool killed = first.diagnosis->code == Code::probe_killed;
  // -1: the count cannot be read.
  const std::int64_t kills_before = killed ? count_oom_kills().value_or(-1) : -1;
  ProbeResult second = probe_once(request);
  if (killed && second.diagnosis && second.diagnosis->code == Code::probe_killed)
    if (const std::int64_t kills = count_oom_kills().value_or(-1); kills_before >= 0 && kills > kills_before)
      second.diagnosis->with(Key::oom_kills, std::to_string(kills - kills_before), "control group");
  second.duration += first.duration;
  second.log.insert(second.log.begin(), std::make_move_iterator(first.log.begin()),
                    std::make_move_iterator(first.log.end()));
  if (second.passed) {
    second.warnings.push_back(*first.diagnosis);
    second.crashed_once = std::move(first.diagnosis);
  }
  if (second.diagnosis) second.diagnosis->with(Key::tries, "2");
  return second;
}

// Returns the accelerators that were not tested, each with the failure that kept it from being tested.
std::vector<TestedDevice> untested(const ProbeResult& without, const std::vector<TestedDevice>& crashed) {
  std::vector<TestedDevice> all = crashed;
  for (const Device& device : without.devices) {
    const auto is_it = [&](const TestedDevice& tested) { return tested.device == device.text(); };
    if (!device.is_accelerator() || std::ranges::any_of(without.tested, is_it) ||
        std::ranges::any_of(crashed, is_it))
      continue;
    TestedDevice& one = all.emplace_back(crashed.back());
    one.failure->with(Key::not_tested, device.text(), "as two others had crashed or hung");
    one.device = device.text();
  }
  return all;
}

// Returns why a device that the request names does not work. A device of several that the name means is
// enough.
std::optional<Diagnosis> failure_of_wanted(const std::string& wanted, const ProbeResult& result) {
  // The engine's own name for a device counts first: "ggml:0" is no kind that every host knows.
  if (first_meant(result.devices, wanted) != nullptr) {
    std::optional<Diagnosis> first;
    for (const Device& device : result.devices) {
      if (!device.is_meant_by(wanted)) continue;
      const auto tested = std::ranges::find(result.tested, device.text(), &TestedDevice::device);
      // A processor that was not tested is one of several.
      if (tested == result.tested.end() || !tested->failure) return std::nullopt;
      if (!first) first = tested->failure;
    }
    return first;
  }
  engine_device id{};
  const bool is_device = parse_device(wanted, id);
  const bool same_kind = is_device && std::ranges::any_of(result.devices, [&](const Device& device) {
                           return device.id.type == id.type;
                         });
  // Devices of this kind exist, but not with this number: the request is wrong, and the build is not at
  // fault.
  if ((!is_device && wanted != "gpu") || same_kind || (id.type == ENGINE_CPU && !result.devices.empty()))
    return no_such_device(result.devices, wanted);
  const auto unlisted = std::ranges::find(result.tested, false, &TestedDevice::is_listed);
  if (unlisted != result.tested.end()) return unlisted->failure;
  std::vector<std::string> offered;
  for (const Device& device : result.devices) offered.push_back(device.text());
  return std::move(diagnose(Code::no_gpu_offered)
                       .with(Key::device, wanted)
                       .with(Key::devices, offered.empty() ? "no device" : join(offered, ", ")));
}

void check_wanted(const ProbeRequest& request, ProbeResult& result) {
  if (!result.passed || request.self_test < 0) return;
  for (const std::string& wanted : request.devices)
    if (auto failure = failure_of_wanted(wanted, result); failure && !result.diagnosis) {
      result.passed = false;
      result.stage = "selftest";
      result.diagnosis = std::move(failure);
      if (result.diagnosis->value(Key::file).empty())
        result.diagnosis->with(Key::file, path_text(request.load.plugin));
      if (result.diagnosis->value(Key::stage).empty()) result.diagnosis->with(Key::stage, result.stage);
    }
}

}  // namespace

ProbeResult probe(const ProbeRequest& request) {
  ProbeResult result = probe_twice(request);
  ProbeRequest rest = request;
  std::vector<TestedDevice> crashed;
  constexpr std::size_t most_crashed = 2;
  while (is_crash(result) && !result.testing.empty() && crashed.size() < most_crashed &&
         result.diagnosis->value(Key::survived_kill).empty()) {
    crashed.push_back({result.testing, result.diagnosis, true, true});
    rest.skipped.push_back(crashed.size() < most_crashed ? result.testing : std::string(every_accelerator));
    ProbeResult without = probe_twice(rest);
    without.duration += result.duration;
    if (!without.passed && (!is_crash(without) || without.testing.empty())) return result;
    if (without.passed)
      for (TestedDevice& one : untested(without, crashed)) without.tested.push_back(std::move(one));
    result = std::move(without);
  }
  check_wanted(request, result);
  return result;
}

Json ProbeResult::to_json() const {
  Json devices_json = Json::array(), facts_json = Json::object();
  for (const auto& [key, value] : facts) facts_json.set(key, value);
  for (const Device& device : devices) {
    // This list is older than that of the outcome: it names the device otherwise and has less of it.
    const Json whole = load::to_json(device);
    Json one = Json::object().set("id", whole["device"]);
    for (const char* name : {"name", "architecture", "driver", "memory"}) one.set(name, whole[name]);
    devices_json.push(std::move(one));
  }
  Json warnings_json = Json::array();
  for (const Diagnosis& warning : warnings) warnings_json.push(explain::to_json(warning));
  Json working = Json::array();
  for (const TestedDevice& one : tested)
    if (!one.failure) working.push(one.device);
  return Json::object()
      .set("passed", passed)
      .set("stages", Json::strings(stages))
      .set("facts", std::move(facts_json))
      .set("devices", std::move(devices_json))
      .set("tested", std::move(working))
      .set("libraries", libraries_to_wire(libraries))
      .set("warnings", std::move(warnings_json))
      .set("duration_ms", static_cast<std::int64_t>(duration.count()));
}

}  // namespace enginehost::load
