#include "host/commands/report.hpp"

#include <algorithm>
#include <optional>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/catalog/age.hpp"
#include "host/catalog/repositories.hpp"
#include "host/commands/common.hpp"
#include "host/context/request.hpp"
#include "host/explain/explain.hpp"
#include "host/open/forecast.hpp"
#include "host/open/open.hpp"
#include "host/platform/driver_state.hpp"
#include "host/resolve/passed_over.hpp"
#include "host/settings/policy.hpp"

namespace enginehost::commands {
namespace {

using resolve::Candidate;
using resolve::Verdict;

constexpr std::size_t widest_engine = 20, widest_build = 24;
constexpr std::size_t most_failures = 3;

// Untrusted text for one cell or line.
std::string safe(const std::string& text) { return printable_line(without_passwords(text)); }

// Returns at most `most` lines; the last one ends with "…" if words are missing.
std::vector<std::string> first_lines(const std::string& text, std::size_t width, std::size_t most) {
  std::vector<std::string> lines = wrapped(text, width);
  if (lines.size() > most) {
    lines.resize(most);
    std::string& last = lines.back();
    while (width_of(last) + 2 > width && last.find(' ') != std::string::npos) last.erase(last.rfind(' '));
    last = shortened(last, width - 2) + " …";
  }
  for (std::string& line : lines) line = shortened(line, width);
  return lines;
}

// Returns "Debian 12" for "Debian GNU/Linux 12 (bookworm)".
std::string system_name(const platform::Platform& machine) {
  if (!machine.distribution.is_known()) return machine.os.is_known() ? machine.os.value() : "unknown system";
  const platform::Distribution& system = machine.distribution.value();
  std::string name = system.name.empty() ? system.id + " " + system.version : system.name;
  if (const std::size_t at = name.find(" ("); at != std::string::npos) name.erase(at);
  if (const std::size_t at = name.find(" GNU/Linux"); at != std::string::npos) name.erase(at, 10);
  return name;
}

std::string system_line(const platform::Platform& machine) {
  std::string system = system_name(machine);
  if (machine.wsl.is_known()) system += " in WSL " + machine.wsl.value();
  if (machine.container.is_known()) system += " in a container (" + machine.container.value() + ")";
  std::vector<std::string> parts{system};
  const platform::Cpu& cpu = machine.cpu.value();
  if (!cpu.level.empty()) {
    parts.push_back(cpu.level);
  } else {
    if (!cpu.model.empty()) parts.push_back(cpu.model);
    if (machine.arch.is_known()) parts.push_back(machine.arch.value());
  }
  if (cpu.cores > 0) parts.push_back(pluralize(static_cast<std::uint64_t>(cpu.cores), "core", "cores"));
  if (machine.memory.is_known()) parts.push_back(format_bytes(machine.memory.value().total));
  return join(parts, ", ");
}

// Returns "2 x NVIDIA A100 (8.0, 40 GiB)" for each group of equal devices.
std::vector<std::string> gpu_texts(const std::vector<platform::CudaDevice>& devices) {
  struct Group {
    std::string text;
    std::size_t count = 0;
  };
  std::vector<Group> groups;
  for (const platform::CudaDevice& device : devices) {
    std::vector<std::string> facts;
    if (!device.compute_capability.empty()) facts.push_back(device.compute_capability);
    if (device.memory != 0) facts.push_back(format_bytes(device.memory));
    if (!device.visible) facts.emplace_back("hidden");
    const std::string text = (device.name.empty() ? "unnamed GPU" : device.name) +
                             (facts.empty() ? "" : " (" + join(facts, ", ") + ")");
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const Group& one) { return one.text == text; });
    if (same != groups.end())
      ++same->count;
    else
      groups.push_back({text, 1});
  }
  std::vector<std::string> texts;
  for (const Group& group : groups)
    texts.push_back((group.count > 1 ? std::to_string(group.count) + " x " : "") + group.text);
  return texts;
}

std::string driver_text(const platform::Cuda& cuda) {
  if (!cuda.driver.is_known()) return cuda.driver_cuda.is_known() ? "CUDA " + cuda.driver_cuda.value() : "";
  return "driver " + cuda.driver.value() +
         (cuda.driver_cuda.is_known() ? " (CUDA " + cuda.driver_cuda.value() + ")" : "");
}

std::string with_code(const std::string& reason, Code code) {
  return reason + " (engine-info --code " + std::string(text_of(code)) + ")";
}

// Returns "gfx1031 (as gfx1030 by HSA_OVERRIDE_GFX_VERSION=10.3.0), gfx1100".
std::string amd_text(const platform::Platform& machine) {
  const platform::RocmDevices found = platform::rocm_devices(machine);
  if (found.devices.empty() || !found.unknown.empty()) return join(machine.rocm.value().gfx, ", ");
  std::vector<std::string> texts;
  for (const platform::RocmDevice& device : found.devices)
    texts.push_back(device.gfx + (device.variable.empty()
                                      ? ""
                                      : " (as " + device.counts_as + " by " + device.variable + ")"));
  return join(texts, ", ");
}

// Returns the GPU that is no NVIDIA device, or why there is no GPU.
std::string other_gpu(const platform::Platform& machine, const std::string& use) {
  const platform::Cuda& cuda = machine.cuda;
  if (machine.metal.is_known()) return "GPU " + machine.metal.value().device + " (Metal)";
  if (machine.rocm.is_known() && !machine.rocm.value().gfx.empty())
    return "AMD GPU " + amd_text(machine) + ", " +
           (machine.rocm.value().version.empty() ? "no ROCm installation"
                                                 : "ROCm " + machine.rocm.value().version);
  if (machine.os.is_known() && machine.os.value() == "macos") return "no GPU with Metal";
  if (const std::string cards = platform::amd_cards(machine);
      !cards.empty() && cuda.hardware.is_absent() && machine.os.value() == "linux")
    return with_code("no GPU: " + cards + ", which the kernel does not offer to ROCm",
                     Code::rocm_does_not_fit);
  const std::string library =
      machine.os.is_known() && machine.os.value() == "windows" ? "nvcuda.dll" : "libcuda.so.1";
  const Diagnosis no_driver = platform::why_no_driver(machine);
  if (no_driver.code == Code::driver_is_stub)
    return with_code("no GPU: only a stub of the driver is found", Code::driver_is_stub);
  if (const std::string obstacle = platform::obstacle_text(machine); !obstacle.empty())
    return with_code("no GPU: " + obstacle, no_driver.code);
  if (cuda.driver.is_known() && cuda.library.is_absent())
    return with_code("no GPU: " + driver_text(cuda) + ", but no " + library, Code::driver_not_found);
  if (cuda.driver.is_absent() && cuda.hardware.is_known())
    return with_code("no GPU: NVIDIA device " + cuda.hardware.value() + ", but no driver",
                     Code::driver_not_found);
  const bool has_other = machine.other_gpus.is_known() && !machine.other_gpus.value().empty();
  if (cuda.driver.is_absent() && cuda.hardware.is_absent() && has_other)
    return "GPU " + machine.other_gpus.value() + ": " + (use.empty() ? "no engine build here uses it" : use);
  if (cuda.driver.is_absent() && cuda.hardware.is_absent())
    return with_code("no GPU: no NVIDIA device and no driver", Code::driver_not_found);
  if (const Code code = platform::class_of_init(machine); code != Code::none)
    return with_code(
        (code == Code::driver_does_not_answer ? "GPU unknown: " : "no GPU now: ") + cuda.devices.why(), code);
  if (cuda.devices.is_unknown()) return "GPU unknown: " + cuda.devices.why();
  if (cuda.driver.is_known())
    return with_code("no GPU: " + driver_text(cuda) + " lists no device", Code::no_gpu_visible);
  return with_code("no GPU: no NVIDIA driver", Code::driver_not_found);
}

// Returns the first GPUs that fit into the width together with `rest`.
std::string gpu_line(const platform::Platform& machine, std::size_t width, const std::string& use) {
  const platform::Cuda& cuda = machine.cuda;
  if (!cuda.devices.is_known() || cuda.devices.value().empty()) return other_gpu(machine, use);
  std::vector<std::string> gpus = gpu_texts(cuda.devices.value());
  std::string driver = driver_text(cuda);
  if (const std::string obstacle = platform::obstacle_text(machine); !obstacle.empty())
    driver += (driver.empty() ? "" : ", ") + ("out of reach: " + obstacle + " (") +
              std::string(platform::why_no_driver(machine).code_text()) + ")";
  for (std::size_t left_out = 0;; ++left_out) {
    std::string text = join(gpus, ", ");
    if (left_out > 0) text += " and " + pluralize(left_out, "other kind", "other kinds");
    if (!driver.empty()) text += ", " + driver;
    if (gpus.size() == 1 || wrapped(text, width).size() <= 2) return text;
    gpus.pop_back();
  }
}

std::string download_text(open::OpenContext& context, const resolve::Request& request,
                          const manifest::Build& build) {
  if (build.in_place) return "in place";
  if (!context.is_recorded() && request.installed.contains(build.id)) return "installed";
  const acquire::Pending pending = open::pending_download(context, build);
  if (!pending.over_network) {
    const auto owner = build.manifest.lock();
    const std::string own = settings::own_repository(context.settings());
    if (owner && !own.empty() && owner->repository == own) return "built in";
    return "in a folder";
  }
  if (pending.bytes == 0) return "unknown size";
  return (pending.bytes_known ? "" : "> ") + format_bytes(pending.bytes);
}

std::string build_text(const manifest::Build& build) { return safe(build.version + " " + build.flavor); }

std::string failure_lines(const std::vector<Diagnosis>& failures, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < std::min(failures.size(), most_failures); ++i)
    for (const std::string& line : first_lines(safe(explain::one_line(failures[i])), width, 2))
      text += line + "\n";
  if (failures.size() > most_failures)
    text += "and " + pluralize(failures.size() - most_failures, "other failure", "other failures") +
            " (engine-info --verbose)\n";
  return text;
}

// Returns why repositories, and records of installed builds, could not be read.
std::vector<Diagnosis> failures_of(open::OpenContext& context) {
  std::vector<Diagnosis> failures = context.catalog().failures;
  if (auto readable = context.store().check_readable(); !readable)
    failures.push_back(std::move(readable).error());
  else
    static_cast<void>(context.store().list(&failures));
  return failures;
}

// Returns the request that may use a GPU of this machine, although the engine would compute on the processor.
std::string use_of_gpu(const std::vector<resolve::Plan>& plans, const platform::Platform& machine) {
  for (const resolve::Plan& plan : plans) {
    const auto chosen = std::ranges::find(plan.candidates, Verdict::chosen, &Candidate::verdict);
    if (chosen == plan.candidates.end()) continue;
    const auto idle = resolve::idle_accelerator(plan, machine, *chosen->build);
    if (idle && !idle->value(Key::to_be_named).empty())
      return "engine-info " + plan.request.engine + " --flavor " +
             std::string(idle->value(Key::to_be_named)) + " may use it";
  }
  return {};
}

std::string engines_text(open::OpenContext& context, const Screen& screen,
                         const Result<std::vector<resolve::Plan>>& plans) {
  std::vector<EngineRow> rows;
  std::vector<Diagnosis> failures;
  if (plans)
    for (const resolve::Plan& plan : *plans)
      rows.push_back(row_of(
          plan, [&](const manifest::Build& build) { return download_text(context, plan.request, build); }));
  else
    failures.push_back(plans.error());
  std::string text;
  if (!rows.empty())
    text += engine_table(rows, screen);
  else if (failures.empty())
    text +=
        join(wrapped("no engine is known: " + safe(why_no_engine_is_known(context)), screen.width), "\n") +
        "\n";
  for (Diagnosis& failure : failures_of(context))
    if (failures.empty() || explain::one_line(failure) != explain::one_line(failures.front()))
      failures.push_back(std::move(failure));
  if (!failures.empty()) text += (text.empty() ? "" : "\n") + failure_lines(failures, screen.width);
  return text;
}

// Returns true if an open of the build begins when somebody accepts a license.
bool is_waiting(const Candidate& candidate) {
  return candidate.obstacle && candidate.obstacle->code == Code::consent_missing;
}

// Returns why the engine has no build here.
std::optional<resolve::PassedOver> why_none(const resolve::Plan& plan) {
  auto nearest = resolve::nearest_build(plan);
  if (nearest || !plan.diagnosis) return nearest;
  return resolve::PassedOver{nullptr, plan.diagnosis->code, explain::render(*plan.diagnosis).title};
}

std::string with_code(const resolve::PassedOver& passed_over) {
  return safe(std::string(text_of(passed_over.code)) + (passed_over.code == Code::none ? "" : " ") +
              passed_over.reason);
}

}  // namespace

Result<std::vector<resolve::Plan>> plans_of_engines(open::OpenContext& context) {
  TRY(context.check_records());
  if (auto forbidden = catalog::forbidden_by_name(context.catalog())) return fail(std::move(*forbidden));
  std::vector<resolve::Plan> plans;
  for (const std::string& engine : context.catalog().engines()) {
    resolve::Request request;
    request.engine = engine;
    request = open::completed(std::move(request), open::defaults_of(context.settings()));
    auto plan = open::decide(context, request);
    if (!plan && plan.error().code != Code::not_in_lock && plan.error().code != Code::bytes_differ_from_lock)
      return fail(std::move(plan).error());
    // A lock holds other engines, or other bytes: that is said in the row of the engine.
    if (!plan) {
      plans.emplace_back().request = std::move(request);
      plans.back().diagnosis = std::move(plan).error();
      continue;
    }
    open::foresee(context, *plan, can_ask());
    plans.push_back(std::move(*plan));
  }
  return plans;
}

Json to_json(const resolve::Plan& plan) {
  const auto chosen = std::ranges::find(plan.candidates, Verdict::chosen, &Candidate::verdict);
  const bool any = chosen != plan.candidates.end();
  const bool waits = any && is_waiting(*chosen), opens = any && (!chosen->obstacle || waits);
  std::optional<resolve::PassedOver> why;
  if (any && chosen->obstacle)
    why = resolve::why_passed_over(*chosen);
  else if (!any)
    why = why_none(plan);
  const auto better = opens ? resolve::better_build(plan) : std::nullopt;
  return Json::object()
      .set("state", waits   ? "asks"
                    : opens ? "opens"
                            : "none")
      .set("build", opens ? Json(chosen->build->id) : Json())
      .set("version", opens ? Json(chosen->build->version) : Json())
      .set("flavor", opens ? Json(chosen->build->flavor) : Json())
      .set("fallback", plan.fallback)
      .set("code", why && why->code != Code::none ? Json(std::string(text_of(why->code))) : Json())
      .set("reason", why ? Json(why->reason) : Json())
      .set("obstacle", any && chosen->obstacle ? explain::to_json(*chosen->obstacle) : Json())
      .set("better",
           better ? Json::object()
                        .set("build", better->candidate->build->id)
                        .set("code",
                             better->code == Code::none ? Json() : Json(std::string(text_of(better->code))))
                        .set("reason", better->reason)
                  : Json());
}

EngineRow row_of(const resolve::Plan& plan,
                 const std::function<std::string(const manifest::Build&)>& download) {
  EngineRow row;
  row.engine = safe(plan.request.engine);
  const auto chosen = std::find_if(plan.candidates.begin(), plan.candidates.end(),
                                   [](const Candidate& one) { return one.verdict == Verdict::chosen; });
  const bool waits = chosen != plan.candidates.end() && is_waiting(*chosen);
  if (chosen == plan.candidates.end() || (chosen->obstacle && !waits)) {
    row.build = "none";
    if (chosen != plan.candidates.end())
      row.reason = with_code(resolve::why_passed_over(*chosen));
    else if (const auto why = why_none(plan))
      row.reason = with_code(*why);
    return row;
  }
  const manifest::Build& build = *chosen->build;
  row.state =
      plan.fallback || chosen->uncertain || waits ? EngineRow::State::fallback : EngineRow::State::opens;
  if (waits) row.note = resolve::obstacle_text(*chosen->obstacle);
  row.build = build_text(build);
  row.download = download(build);
  if (chosen->uncertain && !waits) {
    row.reason = safe(resolve::why_passed_over(*chosen).reason);
  } else if (const auto better = resolve::better_build(plan)) {
    const manifest::Build& other = *better->candidate->build;
    row.reason = (other.version == build.version ? safe(other.flavor) : build_text(other)) +
                 (better->reason.empty() ? "" : ": " + safe(better->reason));
  }
  return row;
}

std::vector<std::string> machine_lines(const platform::Platform& platform, std::size_t width,
                                       const std::string& use) {
  std::vector<std::string> lines = first_lines(safe(system_line(platform)), width, 2);
  const std::size_t left = 3 - lines.size();
  for (std::string& line : first_lines(safe(gpu_line(platform, width, use)), width, left))
    lines.push_back(std::move(line));
  return lines;
}

std::string engine_table(const std::vector<EngineRow>& rows, const Screen& screen) {
  const bool has_notes = std::ranges::any_of(rows, [](const EngineRow& row) { return !row.note.empty(); });
  const EngineRow heading{EngineRow::State::none,           "engine", "opens here", "download", "",
                          has_notes ? "but" : "better, but"};
  std::size_t engines = 0, builds = 0, downloads = 0;
  const auto measure = [&](const EngineRow& row) {
    engines = std::max(engines, std::min(width_of(row.engine), widest_engine));
    builds = std::max(builds, std::min(width_of(row.build), widest_build));
    downloads = std::max(downloads, width_of(row.download));
  };
  measure(heading);
  for (const EngineRow& row : rows) measure(row);
  constexpr std::size_t gap = 2, least_for_reasons = 24, indent = 4;
  const std::size_t before = engines + builds + downloads + 3 * gap;
  const bool beside = before + least_for_reasons <= screen.width;
  const std::size_t margin = beside ? before : indent;

  std::string text;
  const auto add = [&](const EngineRow& row, std::optional<Ink> name, std::optional<Ink> build, Ink rest) {
    const auto cell = [&](const std::string& value, std::size_t width, std::optional<Ink> ink) {
      const std::string whole = padded(shortened(value, width), width + gap);
      const std::size_t end = whole.find_last_not_of(' ') + 1;
      return ink ? inked(screen, *ink, whole.substr(0, end)) + whole.substr(end) : whole;
    };
    std::string line = cell(row.engine, engines, name) + cell(row.build, builds, build) +
                       cell(row.download, downloads, rest == Ink::dim ? std::optional(rest) : std::nullopt);
    std::vector<std::string> reason;
    if (!row.note.empty()) reason.push_back(shortened(row.note, screen.width - margin));
    if (!row.reason.empty())
      for (std::string& part : first_lines(row.reason, screen.width - margin, 2 - reason.size()))
        reason.push_back(std::move(part));
    for (std::size_t i = 0; i < reason.size(); ++i) {
      if (i > 0 || !beside) {
        line.erase(line.find_last_not_of(' ') + 1);
        line += "\n" + std::string(margin, ' ');
      }
      line += rest == Ink::dim ? inked(screen, rest, reason[i]) : reason[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const bool has_reasons =
      has_notes || std::ranges::any_of(rows, [](const EngineRow& row) { return !row.reason.empty(); });
  EngineRow shown = heading;
  if (!beside || !has_reasons) shown.reason.clear();
  add(shown, Ink::dim, Ink::dim, Ink::dim);
  for (const EngineRow& row : rows)
    add(row, Ink::name,
        row.state == EngineRow::State::opens      ? std::optional(Ink::good)
        : row.state == EngineRow::State::fallback ? std::optional(Ink::doubtful)
                                                  : std::nullopt,
        Ink::good);
  return text;
}

std::string first_screen(open::OpenContext& context, const Screen& screen, bool engines) {
  std::string text;
  Result<std::vector<resolve::Plan>> plans;
  if (engines) plans = plans_of_engines(context);
  const std::string use = plans ? use_of_gpu(*plans, context.platform()) : std::string();
  for (const std::string& line : machine_lines(context.platform(), screen.width, use)) text += line + "\n";
  text +=
      "\n" + (engines ? engines_text(context, screen, plans)
                      : "which engines open here is not known, because the configuration cannot be used\n");
  const std::size_t width = screen.width;
  if (const auto age = catalog::age_of_manifests(context.catalog(), open::OpenContext::now()); age && engines)
    text += join(wrapped(*age + ", so newer engines may exist: engine-cache update", width), "\n") + "\n";
  text += "\n";
  for (const char* legend :
       {"engine-info ENGINE     opens one and shows what you got; --explain: every reason",
        "engine-info --verbose  everything that was detected, with its source"})
    for (const std::string& line : split(wrapped_lines(legend, width), '\n'))
      text += inked(screen, Ink::dim, line) + "\n";
  return text;
}

}  // namespace enginehost::commands
