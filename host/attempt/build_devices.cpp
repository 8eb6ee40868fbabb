#include "host/attempt/build_devices.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::open {
namespace {

std::string_view kind_of(std::string_view device) { return device.substr(0, device.find(':')); }

bool is_processor(std::string_view device) { return kind_of(device) == "cpu"; }

// PyTorch calls the devices of ROCm "cuda", and Apple's GPU is "mps" or "metal".
bool is_of_kind(std::string_view device, std::string_view kind) {
  const std::string_view own = kind_of(device);
  if (own == kind || kind == "gpu") return true;
  if (kind == "rocm") return own == "cuda";
  if (kind == "mps" || kind == "metal") return own == "mps" || own == "metal";
  return kind != "cuda";
}

std::vector<std::string> accelerators_in(const std::vector<load::Device>& devices) {
  std::vector<std::string> names;
  for (const load::Device& device : devices)
    if (device.is_accelerator()) names.push_back(device.text());
  return names;
}

std::string names_of(const std::vector<load::Device>& devices) {
  std::vector<std::string> names;
  for (const load::Device& device : devices) names.push_back(device.text());
  return names.empty() ? "no device" : join(names, ", ");
}

bool crashed(Code code) {
  constexpr Code crashes[] = {Code::illegal_instruction,           Code::build_crashed,
                              Code::engine_ended_process,          Code::engine_ended_process_quietly,
                              Code::engine_does_not_start_in_time, Code::stack_overflow,
                              Code::exception_across_abi,          Code::probe_killed};
  return std::ranges::find(crashes, code) != std::end(crashes);
}

void add_cuda_error(Diagnosis& failure) {
  const auto number = parse_integer(failure.value(Key::native));
  std::string_view name;
  if (failure.value(Key::origin) == "cuda" && number) name = explain::name_of_cuda_error(*number);
  if (name.empty()) name = explain::name_of_cuda_error_in(failure.value(Key::message));
  if (!name.empty()) failure.with(Key::cuda_error, name, "the engine's message");
}

}  // namespace

bool BuildDevices::works_on(std::string_view kind) const {
  return std::ranges::any_of(
      working, [&](const std::string& one) { return !is_processor(one) && is_of_kind(one, kind); });
}

bool BuildDevices::works_on_processor() const { return std::ranges::any_of(working, is_processor); }

bool BuildDevices::is_of_the_moment() const {
  return std::ranges::any_of(unusable, [](const Diagnosis& failure) {
    return explain::category(failure) == history::Category::transient;
  });
}

const Diagnosis* BuildDevices::why_not(std::string_view wanted) const {
  const auto is_meant = [&](std::string_view device) {
    return device == wanted || kind_of(device) == wanted || (wanted == "gpu" && !is_processor(device));
  };
  if (std::ranges::any_of(working, is_meant)) return nullptr;
  const auto found = std::ranges::find_if(
      unusable, [&](const Diagnosis& failure) { return is_meant(failure.value(Key::device)); });
  return found != unusable.end() ? &*found : nullptr;
}

void BuildDevices::keep_usable(std::vector<load::Device>& devices) const {
  std::erase_if(devices, [&](const load::Device& device) {
    return std::ranges::any_of(
        unusable, [&](const Diagnosis& failure) { return failure.value(Key::device) == device.text(); });
  });
}

std::string accelerator_of(const manifest::Build& build) {
  const std::string_view kind = resolve::main_device(build);
  return kind == "cpu" ? std::string() : std::string(kind);
}

void add_to_facts(Json& facts, const BuildDevices& devices, std::string_view accelerator) {
  if (accelerator.empty() && devices.accelerators.empty()) return;
  Json unusable = Json::array();
  for (const Diagnosis& failure : devices.unusable) unusable.push(explain::to_json(failure));
  facts.set("accelerators", Json::strings(devices.accelerators))
      .set("tested", Json::strings(devices.working))
      .set("unusable", std::move(unusable));
}

BuildDevices devices_from_facts(const Json& facts) {
  BuildDevices devices;
  devices.is_known = facts.find("accelerators") != nullptr;
  for (const Json& name : facts["accelerators"].as_array()) devices.accelerators.push_back(name.as_string());
  for (const Json& name : facts["tested"].as_array()) devices.working.push_back(name.as_string());
  for (const Json& one : facts["unusable"].as_array())
    devices.unusable.push_back(explain::diagnosis_from_json(one));
  return devices;
}

bool say_enough(const Json& facts, std::string_view accelerator, const std::vector<std::string>& wanted) {
  const BuildDevices devices = devices_from_facts(facts);
  // An older version did not test every device.
  if (!devices.is_known) return accelerator.empty();
  if (resolve::are_processors(wanted)) return devices.works_on_processor();
  return std::ranges::all_of(devices.accelerators, [&](const std::string& one) {
    return std::ranges::find(devices.working, one) != devices.working.end() ||
           std::ranges::any_of(devices.unusable,
                               [&](const Diagnosis& failure) { return failure.value(Key::device) == one; });
  });
}

Diagnosis failure_of_device(Diagnosis failure, const load::TestedDevice& tested,
                            const std::vector<load::Device>& listed) {
  if (failure.value(Key::device).empty()) failure.with(Key::device, tested.device, "the probe");
  add_cuda_error(failure);
  // CUDA's number 3 means a forked process, but the probe is none.
  const bool is_report = failure.code == Code::engine_reports_error || failure.code == Code::cuda_after_fork;
  if (!is_report && !crashed(failure.code)) return failure;
  if (!tested.is_listed && is_report) {
    failure.code = Code::no_gpu_offered;
    return std::move(failure.with(Key::devices, names_of(listed), "the engine"));
  }
  const bool no_memory = failure.value(Key::status) == "ENGINE_NO_MEMORY";
  failure.code = no_memory ? Code::gpu_busy : Code::gpu_does_not_compute;
  return failure;
}

Result<void> check_same_list(const BuildDevices& known, const std::vector<load::Device>& listed,
                             bool probed) {
  if (!known.is_known) return {};
  const std::vector<std::string> now = accelerators_in(listed);
  if (now == known.accelerators) return {};
  const auto gone = std::ranges::find_if(
      known.accelerators, [&](const std::string& one) { return std::ranges::find(now, one) == now.end(); });
  if (gone == known.accelerators.end() && probed) return {};
  Diagnosis failure = diagnose(Code::no_gpu_offered);
  failure.with(Key::device, gone != known.accelerators.end() ? *gone : now.back(), "the probe")
      .with(Key::devices, names_of(listed), "the engine")
      .with(Key::listed_before, known.accelerators.empty() ? "no GPU" : join(known.accelerators, ", "),
            probed ? "the probe" : "the record of an earlier open");
  // This process hides it: it was forked, or has changed what CUDA sees.
  if (probed) failure.with(Key::only_here, "yes", "the probe");
  return fail(std::move(failure));
}

}  // namespace enginehost::open
