#include "host/commands/warm.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "host/load/in_process/engine.hpp"

namespace enginehost::commands {
namespace {

// The smallest size that NVIDIA sets for the cache, for embedded systems (CUDA programming guide, "CUDA
// environment variables"). 1 GiB elsewhere.
constexpr std::int64_t smallest_cache = 256ll << 20;

// Returns "cuda:0" for "cuda:0 (NVIDIA GeForce RTX 5090, 12.0)".
std::string device_of(const std::string& gpu) { return gpu.substr(0, gpu.find(' ')); }

}  // namespace

bool Warmed::passed() const {
  return std::ranges::none_of(gpus, [](const Gpu& one) { return one.failure.has_value(); });
}

std::vector<Diagnosis> unkept_compilations() {
  std::vector<Diagnosis> found;
  const auto note = [&](const char* variable, const std::string& value) -> Diagnosis& {
    return found.emplace_back(diagnose(Code::driver_keeps_no_compiled_code)
                                  .with(Key::variable, variable, "environment")
                                  .with(Key::value, value, "environment"));
  };
  if (const auto off = environment_variable("CUDA_CACHE_DISABLE");
      off && parse_integer(*off).value_or(0) != 0)
    note("CUDA_CACHE_DISABLE", *off).with(Key::disabled, "yes", "environment");
  if (const auto size = environment_variable("CUDA_CACHE_MAXSIZE"))
    if (const auto bytes = parse_integer(*size); bytes && *bytes < smallest_cache)
      note("CUDA_CACHE_MAXSIZE", *size).with(Key::least, std::to_string(smallest_cache), "NVIDIA's guide");
  if (const auto folder = environment_variable("CUDA_CACHE_PATH"); folder && !folder->empty()) {
    std::error_code error;
    // The driver makes a folder that is not there.
    if (std::filesystem::exists(path_of(*folder), error) &&
        !std::filesystem::is_directory(path_of(*folder), error))
      note("CUDA_CACHE_PATH", *folder).with(Key::folder, *folder, "environment");
  }
  return found;
}

Warmed warm(open::Opened& opened, const std::vector<std::string>& compiled_for,
            const std::optional<CancelToken>& cancel) {
  Warmed warmed;
  const bool has_gpu = std::ranges::any_of(
      opened.devices, [](const load::Device& device) { return !device.text().starts_with("cpu"); });
  if (compiled_for.empty()) {
    warmed.why = has_gpu ? "the build has machine code for every GPU that it uses" : "it computes on no GPU";
    return warmed;
  }
  for (const load::Device& device : opened.devices) {
    if (std::ranges::none_of(compiled_for,
                             [&](const std::string& gpu) { return device_of(gpu) == device.text(); }))
      continue;
    load::CallOptions call;
    call.timeout = longest_compilation;
    call.cancel = cancel;
    const auto begin = std::chrono::steady_clock::now();
    auto result = opened.engine->self_test(2, device.id, call);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    warmed.gpus.push_back({device.text(), device.name, passed.count(), {}});
    if (!result) warmed.gpus.back().failure = std::move(result).error();
  }
  if (warmed.gpus.empty()) warmed.why = "the engine offers none of the GPUs that it would be compiled for";
  if (!warmed.gpus.empty()) warmed.unkept = unkept_compilations();
  return warmed;
}

std::string describe(const Warmed& warmed) {
  if (warmed.gpus.empty()) return "nothing needs warming: " + warmed.why + "\n";
  std::string text = "warmed\n";
  for (const Warmed::Gpu& gpu : warmed.gpus) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f s", gpu.seconds);
    text += labeled(gpu.device, gpu.failure ? "FAILED " + explain::one_line(*gpu.failure)
                                            : std::string("compiled and tested in ") + seconds);
  }
  return text;
}

Json to_json(const Warmed& warmed) {
  Json gpus = Json::array(), unkept = Json::array();
  for (const Warmed::Gpu& gpu : warmed.gpus)
    gpus.push(Json::object()
                  .set("device", gpu.device)
                  .set("name", gpu.name)
                  .set("seconds", gpu.seconds)
                  .set("diagnosis", gpu.failure ? explain::to_json(*gpu.failure) : Json()));
  for (const Diagnosis& why : warmed.unkept) unkept.push(explain::to_json(why));
  return Json::object()
      .set("needed", !warmed.gpus.empty())
      .set("reason", warmed.why.empty() ? Json() : Json(warmed.why))
      .set("gpus", std::move(gpus))
      .set("unkept", std::move(unkept));
}

}  // namespace enginehost::commands
