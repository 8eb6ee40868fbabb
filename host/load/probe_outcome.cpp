#include "host/load/probe_outcome.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <utility>

#include "base/limits.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"
#include "host/load/wire.hpp"

namespace enginehost::load {
namespace {

// Lines that the child wrote to its channel.
struct ProbeReport {
  std::vector<std::string> stages;
  Json answer;  // on success
  Json failed;
  Json crash;
  Json warnings = Json::array();
  Json listed = Json::array();  // the engine's devices
  std::string testing;          // the accelerator whose self-test is not over
  std::vector<LogLine> log;
  std::uint64_t memory = 0, memory_limit = 0;  // in use when it failed; the limit that the probe set, or 0
  std::uint64_t space = 0, space_limit = 0;    // the same of the address space; the caller's limit, or 0
  bool ok = false, unloaded = false, overdue = false;
};

ProbeReport read_channel(const std::string& channel, const std::string& nonce) {
  ProbeReport report;
  for (const std::string& line : split(channel, '\n')) {
    if (line.empty()) continue;
    const auto parsed = parse_json(line, "the probe's channel");
    if (!parsed || (*parsed)["nonce"].as_string() != nonce) continue;
    const Json& one = *parsed;
    if (const Json* stage = one.find("stage")) report.stages.push_back(stage->as_string());
    if (const auto& log = one["log"].as_array(); log.size() == 3)
      report.log.push_back(
          {static_cast<std::int32_t>(log[0].as_integer()), log[1].as_string(), log[2].as_string()});
    if (const Json* failed = one.find("failed")) report.failed = *failed;
    if (const Json* crash = one.find("crash")) report.crash = *crash;
    if (const auto& memory = one["memory"].as_array(); memory.size() == 2 || memory.size() == 4) {
      std::uint64_t* const into[] = {&report.memory, &report.memory_limit, &report.space,
                                     &report.space_limit};
      for (std::size_t i = 0; i < memory.size(); ++i)
        *into[i] = static_cast<std::uint64_t>(memory[i].as_integer());
    }
    if (const Json* warnings = one.find("warnings")) report.warnings = *warnings;
    if (const Json* listed = one.find("listed")) report.listed = *listed;
    if (const Json* testing = one.find("testing")) report.testing = testing->as_string();
    // Success is the nonce, never an exit status: exit(0) in a constructor would look like success.
    if (one["ok"].as_string() == nonce) {
      report.ok = true;
      report.answer = one;
    }
    report.unloaded |= one["unloaded"].as_bool();
    report.overdue |= one["overdue"].as_bool();
  }
  return report;
}

// Splits standard output, where the probe answers once its channel is closed, into the build's output and the
// probe's lines.
std::pair<std::string, std::string> separate(const std::string& output, const std::string& nonce) {
  if (output.find(nonce) == std::string::npos) return {output, {}};
  std::string printed, answered;
  for (const std::string& line : split(output, '\n'))
    (line.find(nonce) == std::string::npos ? printed : answered).append(line).append("\n");
  return {std::move(printed), std::move(answered)};
}

std::string seconds_text(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", static_cast<double>(time.count()) / 1000);
  return text;
}

// Formats exception codes as Windows' documentation does.
std::string exception_text(std::uint32_t code) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08X", static_cast<unsigned>(code));
  return text;
}

std::string last_words(const std::string& error_output) {
  constexpr std::size_t most_lines = 3;
  std::vector<std::string> lines;
  for (std::string& line : split(error_output, '\n'))
    if (!trim(line).empty()) lines.push_back(std::move(line));
  if (lines.size() > most_lines) lines.erase(lines.begin(), lines.end() - most_lines);
  return join(lines, " | ");
}

// Classes for which a library ends the process, with abort() or exit(), after it has printed why.
bool is_reason_to_end(Code code) {
  return code == Code::run_time_library_missing || code == Code::sanitizer_loaded_too_late ||
         code == Code::symbol_missing || code == Code::two_openmp_runtimes ||
         code == Code::same_proto_file_twice;
}

int signal_of(const ChildOutcome& outcome, const ProbeReport& report, const ProbeRequest& request) {
  if (outcome.signal != 0) return outcome.signal;
  if (outcome.status_lost) return static_cast<int>(report.crash["signal"].as_integer());
  const int number = outcome.exit_code - 128;
  return !request.launcher.empty() && is_reported_signal(number) ? number : 0;
}

Diagnosis crashed(int number, const ProbeReport& report, const std::optional<explain::LoaderHint>& hint,
                  const std::string& error_output, const std::string& stage) {
  const bool while_loading = stage == "preload" || stage == "load";
  const std::string in_library = report.crash["in_library"].as_string();
  const bool in_loader = in_library.find("/ld-") != std::string::npos;
  Diagnosis diagnosis = [&] {
    if (number == SIGABRT && hint &&
        (hint->code == Code::engine_ended_process || is_reason_to_end(hint->code)))
      return explain::to_diagnosis(*hint, last_words(error_output));
    // An exception that leaves the engine's functions ends here, because nothing may cross the C interface.
    // An exception on a thread of the engine's own crosses nothing.
    const bool called = stage == "create" || stage == "selftest";
    if (number == SIGABRT && called && report.crash["first_thread"].as_bool() &&
        !report.crash["exception"].as_string().empty())
      return diagnose(Code::exception_across_abi);
    if (number == SIGABRT) return diagnose(Code::engine_ended_process);
    if (number == SIGILL) return diagnose(Code::illegal_instruction);
    if (ending_of(number) == Ending::killed) return diagnose(Code::probe_killed);
    if (report.crash["stack_overflow"].as_bool()) return diagnose(Code::stack_overflow);
    // The loader itself crashes only on damaged or truncated files. It calls constructors, but they lie
    // elsewhere.
    if (in_loader && while_loading) return diagnose(Code::file_damaged);
    return diagnose(Code::build_crashed);
  }();
  diagnosis.with(Key::signal, signal_name(number), "how the probe ended");
  const auto add = [&](Key key) {
    if (const std::string& value = report.crash[text_of(key)].as_string(); !value.empty())
      diagnosis.with(key, value, "the probe's crash handler");
  };
  if (diagnosis.value(Key::exception).empty()) {
    add(Key::exception);
    add(Key::what);
  }
  // "terminate called after throwing": the exception's message usually explains the cause.
  if (const std::string what(diagnosis.value(Key::what));
      diagnosis.code == Code::engine_ended_process && !what.empty())
    if (const auto meant = explain::read_engine_text(what))
      diagnosis.with(Key::likely, explain::one_line(explain::to_diagnosis(*meant, what)),
                     "the exception's message");
  add(Key::in_library);
  add(Key::address);
  add(Key::instruction);
  if (const std::int64_t threads = report.crash["threads"].as_integer(); threads > 0)
    diagnosis.with(Key::threads, std::to_string(threads), "the probe's crash handler");
  return diagnosis;
}

// True if the build failed because the probe's limit refused memory. Nothing counts refusals, so two signs
// stand for one: the limit was nearly reached when the build failed, or the failure is C++'s own for refused
// memory.
bool is_out_of_memory(const ProbeReport& report, const Diagnosis& failure) {
  constexpr Code possible[] = {Code::engine_reports_error, Code::memory_short_for_library,
                               Code::build_crashed, Code::engine_ended_process, Code::exception_across_abi};
  if (report.memory_limit == 0 ||
      std::find(std::begin(possible), std::end(possible), failure.code) == std::end(possible))
    return false;
  constexpr std::string_view refused = "std::bad_alloc";
  return report.memory > report.memory_limit / 4 * 3 || failure.value(Key::exception) == refused ||
         failure.value(Key::message).ends_with(refused);
}

// Makes EH-P52 of a failure whose text says that threads, memory or files were refused. Memory must have a
// limit, and files a low one.
bool is_refusal(Diagnosis& failure, std::string_view text) {
  const auto hint = explain::read_limit_text(text);
  if (!hint) return false;
  Diagnosis limits;
  add_limits(limits, hint->resource == "threads"  ? Scarce::threads
                     : hint->resource == "memory" ? Scarce::memory
                                                  : Scarce::files);
  if (hint->resource == "memory" && limits.evidence.empty()) return false;
  // The probe begins with few files open. A build that takes all of the usual number did so itself.
  constexpr std::int64_t usual_files = 1024;
  if (hint->resource == "files" &&
      parse_integer(limits.value(Key::file_limit)).value_or(usual_files) >= usual_files)
    return false;
  failure.code = hint->code;
  explain::add_evidence(failure, *hint);
  std::ranges::move(limits.evidence, std::back_inserter(failure.evidence));
  return true;
}

// The same for a probe that ended: by its exception, by what it printed about threads, or with an address
// space that was nearly full. A program that gets no memory often crashes without a word.
void look_for_refusal(Diagnosis& failure, const ProbeReport& report, const std::string& printed) {
  constexpr Code possible[] = {Code::build_crashed,
                               Code::engine_ended_process,
                               Code::engine_ended_process_quietly,
                               Code::engine_does_not_start_in_time,
                               Code::exception_across_abi,
                               Code::probe_killed,
                               Code::probe_memory_too_small};
  if (std::ranges::find(possible, failure.code) == std::end(possible)) return;
  // The probe's own limit was reached.
  if (failure.code == Code::probe_memory_too_small && report.memory > report.memory_limit / 4 * 3) return;
  const auto hint = explain::read_limit_text(printed);
  const bool nearly_full = report.space_limit != 0 && report.space > report.space_limit / 2;
  if (is_refusal(failure, failure.value(Key::exception)) || is_refusal(failure, failure.value(Key::what)))
    return;
  if (hint && hint->resource == "threads")
    is_refusal(failure, printed);
  else if (nearly_full)
    is_refusal(failure, "std::bad_alloc");
}

Diagnosis out_of_memory(const ProbeReport& report, const ProbeRequest& request, const Diagnosis& failure) {
  Diagnosis diagnosis = diagnose(Code::probe_memory_too_small);
  diagnosis.with(Key::limit, std::to_string(report.memory_limit), request.memory_source)
      .with(Key::used, std::to_string(report.memory), "/proc/self/statm of the probe");
  for (const Key key : {Key::signal, Key::exception, Key::in_library, Key::message, Key::os_said})
    if (const std::string_view value = failure.value(key); !value.empty()) diagnosis.with(key, value);
  return diagnosis;
}

// Reports a build that works, but crashes or hangs when it is unloaded or when the process ends.
std::optional<Diagnosis> unclean_end(const ChildOutcome& outcome, const ProbeReport& report,
                                     const ProbeRequest& request) {
  const int number = signal_of(outcome, report, request);
  if (report.unloaded && number == 0 && !report.overdue && !outcome.timed_out) return std::nullopt;
  Diagnosis warning = diagnose(Code::crash_while_unloading);
  warning.with(Key::file, path_text(request.load.plugin)).with(Key::stage, report.stages.back());
  if (report.overdue || ending_of(number) == Ending::alarm || outcome.timed_out)
    warning.with(Key::problem, "it did not end");
  else if (number != 0)
    warning.with(Key::signal, signal_name(number));
  if (const std::string& library = report.crash["in_library"].as_string(); !library.empty())
    warning.with(Key::in_library, library);
  return warning;
}

// Before its first line the probe has touched nothing of the build, so the probe or the launcher is the
// cause.
Diagnosis helper_did_not_start(const ChildOutcome& outcome, const ProbeRequest& request) {
  Diagnosis diagnosis = diagnose(Code::probe_not_started);
  diagnosis.with(Key::program,
                 request.launcher.empty() ? path_text(request.helper) : request.launcher.front());
  if (outcome.timed_out) {
    diagnosis.with(Key::deadline, seconds_text(request.deadline), request.deadline_source);
  } else if (outcome.exception != 0) {  // `signal` is only the nearest equivalent
    diagnosis.with(Key::exit_code, exception_text(outcome.exception));
  } else if (outcome.signal != 0) {
    diagnosis.with(Key::signal, signal_name(outcome.signal), "how it ended");
  } else if (outcome.status_lost) {
    diagnosis.with(Key::status_lost, lost_status, "waitpid");
  } else {
    diagnosis.with(Key::exit_code, std::to_string(outcome.exit_code));
  }
  if (const std::string words = last_words(outcome.error); !words.empty())
    diagnosis.with(Key::os_said, words, "its standard error");
  return diagnosis;
}

Diagnosis why(const ChildOutcome& outcome, const ProbeReport& report, const ProbeRequest& request,
              const std::string& stage) {
  if (outcome.canceled) return diagnose(Code::canceled).with(Key::reason, "on request");
  const bool ended_from_outside = ending_of(signal_of(outcome, report, request)) == Ending::killed;
  // A process that survives SIGKILL waits in the kernel for a driver: the probe is not at fault.
  if (report.stages.empty() && !outcome.survived_kill && (outcome.timed_out || !ended_from_outside))
    return helper_did_not_start(outcome, request);
  if (outcome.timed_out) {
    Diagnosis diagnosis = diagnose(Code::engine_does_not_start_in_time);
    diagnosis.with(Key::deadline, seconds_text(request.deadline), request.deadline_source);
    if (const std::string& library = report.crash["in_library"].as_string(); !library.empty())
      diagnosis.with(Key::in_library, library, "the stack when it was ended");
    if (outcome.survived_kill) diagnosis.with(Key::survived_kill, "yes");
    return diagnosis;
  }
  if (report.failed.is_object()) {
    Diagnosis diagnosis = diagnosis_from_wire(report.failed);
    refine_report(diagnosis);
    if (is_out_of_memory(report, diagnosis)) return out_of_memory(report, request, diagnosis);
    return diagnosis;
  }
  const auto hint = explain::read_error_output(outcome.error);
  if (const int number = signal_of(outcome, report, request); number != 0) {
    Diagnosis diagnosis = crashed(number, report, hint, outcome.error, stage);
    if (is_out_of_memory(report, diagnosis)) return out_of_memory(report, request, diagnosis);
    if (outcome.exception == 0) return diagnosis;
    // A delay-loaded DLL is searched at its first use (EH-W08).
    if (const Code code = explain::class_of_windows_error(outcome.exception); code != Code::none)
      diagnosis.code = code;
    return std::move(
        diagnosis.with(Key::exception_number, exception_text(outcome.exception), "how the probe ended"));
  }
  if (hint && (hint->code == Code::symbol_missing_at_first_call || hint->code == Code::file_damaged ||
               is_reason_to_end(hint->code)))
    return explain::to_diagnosis(*hint, last_words(outcome.error));
  if (outcome.exit_code == status_without_answer)
    return diagnose(Code::engine_changes_process_state)
        .with(Key::changed, "descriptors that it did not open", "the probe's exit status")
        .with(Key::before, "open")
        .with(Key::after, "closed");
  // The probe's answer did not fit any more.
  if (outcome.channel.size() >= channel_bytes)
    return diagnose(Code::engine_changes_process_state)
        .with(Key::changed, "a descriptor that it did not open", "the probe's channel")
        .with(Key::before, "the probe's answer alone")
        .with(Key::after, "more than " + format_bytes(channel_bytes) + " of other text");
  if (outcome.status_lost)
    return diagnose(Code::engine_ended_process_quietly).with(Key::status_lost, lost_status, "waitpid");
  return diagnose(Code::engine_ended_process_quietly).with(Key::exit_code, std::to_string(outcome.exit_code));
}

}  // namespace

void refine_report(Diagnosis& diagnosis) {
  if (diagnosis.code != Code::engine_reports_error) return;
  // Nothing failed, and the program that created the engine reports the same.
  if (!diagnosis.value(Key::overcome).empty()) return;
  if (diagnosis.value(Key::origin) == "cuda") {
    const auto native = parse_integer(diagnosis.value(Key::native));
    const Code code = native ? explain::class_of_cuda_error(*native) : Code::none;
    if (code != Code::none) diagnosis.code = code;
    // 35 is also the runtime's error when there is no driver at all, and 801 is it on Windows; the driver's
    // version is 0 then.
    const std::string_view found = diagnosis.value(Key::found);
    if ((native == 35 || native == 801) && (found == "0" || found == "0.0"))
      diagnosis.code = Code::driver_not_found;
    return;
  }
  // An adapter passes on its runtime's message. It gets a class of its own only for facts that only the
  // runtime knows (the GPU, the parts of cuDNN). For a library the message only names it, and the files
  // decide (recheck).
  const auto hint = explain::read_engine_text(diagnosis.value(Key::message));
  if (!hint) {
    is_refusal(diagnosis, diagnosis.value(Key::message));
    return;
  }
  if (area_of(hint->code) == Area::gpus || hint->code == Code::run_time_library_missing ||
      hint->code == Code::cudnn_parts_differ) {
    diagnosis.code = hint->code;
    explain::add_evidence(diagnosis, *hint);
  } else if (hint->code == Code::library_missing && diagnosis.value(Key::missing_library).empty()) {
    diagnosis.with(Key::missing_library, hint->subject, "the message");
  }
}

namespace {

std::vector<TestedDevice> tested_from_wire(const Json& wire) {
  std::vector<TestedDevice> all;
  for (const Json& one : wire.as_array()) {
    TestedDevice& tested = all.emplace_back();
    tested.device = one["device"].as_string();
    tested.is_accelerator = one["accelerator"].as_bool();
    tested.is_listed = one["listed"].as_bool(true);
    if (one["failed"].is_null()) continue;
    tested.failure = diagnosis_from_wire(one["failed"]);
    refine_report(*tested.failure);
  }
  return all;
}

}  // namespace

ProbeResult judge(const ChildOutcome& outcome, const std::string& nonce, const ProbeRequest& request) {
  const auto [printed_by_build, answered] = separate(outcome.output, nonce);
  ProbeReport report = read_channel(outcome.channel + "\n" + answered, nonce);
  ProbeResult result;
  result.stages = report.stages;
  result.log = std::move(report.log);
  result.stage = report.stages.empty() ? "start" : report.stages.back();
  result.error_output = outcome.error;
  result.duration = outcome.duration;
  result.testing = std::move(report.testing);
  result.devices = devices_from_wire(report.listed);
  if (const std::string printed(trim(printed_by_build)); !printed.empty()) {
    constexpr std::size_t most = 200;
    result.warnings.push_back(
        std::move(diagnose(Code::engine_writes_to_standard_output)
                      .with(Key::file, path_text(request.load.plugin))
                      .with(Key::output, printed.substr(0, most), "standard output of the probe")));
  }
  for (const Json& warning : report.warnings.as_array()) {
    result.warnings.push_back(diagnosis_from_wire(warning));
    refine_report(result.warnings.back());
  }
  if (report.ok && !outcome.canceled) {
    result.passed = true;
    result.facts = pairs_from_wire(report.answer["facts"]);
    result.devices = devices_from_wire(report.answer["devices"]);
    result.tested = tested_from_wire(report.answer["tested"]);
    result.libraries = libraries_from_wire(report.answer["libraries"]);
    if (auto warning = unclean_end(outcome, report, request)) result.warnings.push_back(std::move(*warning));
    return result;
  }
  Diagnosis diagnosis = why(outcome, report, request, result.stage);
  look_for_refusal(diagnosis, report, outcome.error);
  if (diagnosis.value(Key::file).empty()) diagnosis.with(Key::file, path_text(request.load.plugin));
  if (diagnosis.value(Key::stage).empty()) diagnosis.with(Key::stage, result.stage);
  if (!result.testing.empty() && diagnosis.value(Key::device).empty())
    diagnosis.with(Key::device, result.testing, "the self-test that began last");
  if (const std::string words = last_words(outcome.error);
      !words.empty() && diagnosis.value(Key::os_said) != words)
    diagnosis.with(Key::last_words, words, "standard error of the probe");
  result.diagnosis = std::move(diagnosis);
  return result;
}

}  // namespace enginehost::load
