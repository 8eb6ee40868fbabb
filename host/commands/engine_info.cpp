// engine-info: describes this machine, decides which build of an engine fits it, opens it, and explains
// failures.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/commands/bench.hpp"
#include "host/commands/common.hpp"
#include "host/commands/device_checks.hpp"
#include "host/commands/engine_log.hpp"
#include "host/commands/first_screen.hpp"
#include "host/commands/info_flags.hpp"
#include "host/commands/installations.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/open_flags.hpp"
#include "host/commands/plot.hpp"
#include "host/commands/program.hpp"
#include "host/commands/recorded_platform.hpp"
#include "host/commands/report.hpp"
#include "host/commands/say.hpp"
#include "host/commands/screen.hpp"
#include "host/commands/self_test.hpp"
#include "host/commands/stdout_writer.hpp"
#include "host/explain/describe_code.hpp"
#include "host/explain/explain.hpp"
#include "host/manifest/repository.hpp"
#include "host/open/open.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::commands {
namespace {

// Returns where the pages are installed, if the text names one. Remedies name pages by their path in the
// source tree.
std::string place_of_pages(const std::string& text) {
  if (text.find("docs/") == std::string::npos) return {};
  std::error_code error;
  const auto pages = executable_folder().parent_path() / "share" / "doc" / "enginehost";
  if (!std::filesystem::is_directory(pages / "docs", error)) return {};
  return "\ndocs/ and manifests/ are in " + path_text(pages) + "\n";
}

// Prints the text of every requested code. Errors: EH-P41 if one of them does not exist.
int explain_codes(const InfoFlags& flags) {
  std::vector<const explain::Entry*> entries;
  for (const std::string& code : flags.codes) {
    entries.push_back(explain::find(code));
    if (entries.back() != nullptr) continue;
    std::vector<std::string> known;
    for (const explain::Entry& entry : explain::all()) known.emplace_back(entry.code);
    Diagnosis unknown = diagnose("EH-P41").with("code", code);
    if (const auto near = nearest(explain::normalised_code(code), known, 2)) unknown.with("nearest", *near);
    return end_with(unknown, flags.common.json);
  }
  if (!flags.common.json) {
    std::string text;
    for (const explain::Entry* entry : entries)
      text += (text.empty() ? "" : "\n") + explain::describe_code(*entry) + "\n";
    say("%s%s", text.c_str(), place_of_pages(text).c_str());
    return 0;
  }
  if (entries.size() == 1) {
    print(explain::code_document(*entries.front()).set("format", 1));
    return 0;
  }
  Json codes = Json::array();
  for (const explain::Entry* entry : entries) codes.push(explain::code_document(*entry));
  print(Json::object().set("format", 1).set("codes", std::move(codes)));
  return 0;
}

std::string inspect_report(const preflight::Report& report, bool symbols, bool recorded) {
  std::string text =
      printable_line(path_text(report.file)) + ": " + preflight::name_of(report.verdict) + "\n";
  for (const std::string& note : report.notes) text += "  " + printable_line(note) + "\n";
  const explain::Style style{.width = style_of(stdout).width};
  for (const Diagnosis& diagnosis : report.diagnoses) text += "\n" + described(diagnosis, style) + "\n";
  text += "\nthe file\n";
  const bool listed = !report.closure.empty();
  for (const std::string& line : preflight::to_lines(report.facts, !listed))
    text += "  " + printable_line(line) + "\n";
  if (listed) text += "\nlibraries, in the order they would be loaded\n";
  for (const preflight::Report::Item& item : report.closure)
    text += "  " +
            printable_line((item.path == item.name ? item.path : item.name + "  ") +
                           (item.path.empty()        ? "(system library)"
                            : item.path == item.name ? ""
                                                     : item.path)) +
            "\n";
  for (const linker::HighestVersion& version : report.highest)
    text +=
        printable_line("needs " + version.family + " " + version.version + " (" + version.required_by + ")") +
        "\n";
  for (const binary::GpuCode::Entry& code : report.gpu_code)
    text += "GPU code " + code.kind + " " + code.arch + " (" + std::to_string(code.count) + ")\n";
  // The symbols of an ELF file for this machine are always checked, although they do not decide: see the
  // notes.
  if (!symbols && report.verdict == preflight::Verdict::loads &&
      (recorded || report.kind != binary::Kind::elf))
    text += "\nsymbols were not checked: --symbols lists undefined ones\n";
  return text;
}

// Returns true for <cache>/views/<digest>/... of any cache.
bool is_in_a_view(const std::filesystem::path& file) {
  bool below_views = false;
  for (const std::filesystem::path& part : file.parent_path()) {
    const std::string name = path_text(part);
    if (below_views && is_sha256_hex(name)) return true;
    below_views = name == "views";
  }
  return false;
}

int inspect(const InfoFlags& flags) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path_of(flags.inspect), error);
  std::optional<platform::Platform> described;
  if (!flags.platform_file.empty()) {
    auto platform = recorded_platform(flags.platform_file);
    if (!platform) {
      end_with(platform.error(), flags.common.json);
      return static_cast<int>(explain::ExitStatus::usage);
    }
    described = std::move(*platform);
  }
  // The libraries of this program say nothing about the program that will open the file. Preloaded libraries
  // do, because they are in every program.
  linker::Machine here = linker::describe_this_machine();
  here.loaded = linker::preloaded_libraries();
  auto report = explain::mark_as_argument(
      preflight::inspect(file, flags.symbols, here, described ? &*described : nullptr), file);
  if (!report) {
    end_with(report.error(), flags.common.json);
    return static_cast<int>(explain::ExitStatus::usage);
  }
  const std::string command = "engine-info --inspect ", done = command + shell_word(path_text(file));
  for (Diagnosis& diagnosis : report->diagnoses) {
    diagnosis = explain::mark_as_argument(std::move(diagnosis), file);
    // Only files of a cache can be fetched again; what this file needs may be anywhere.
    if (const std::filesystem::path about = path_of(diagnosis.value("file"));
        diagnosis.value("place").empty() && about.is_absolute() && !is_in_a_view(about))
      diagnosis.with("outside", "yes", "no file of the cache");
    explain::complete(diagnosis);
    // The command that just ran repairs nothing.
    std::erase_if(diagnosis.remedy, [&](const std::string& remedy) {
      const std::size_t at = remedy.find(done), end = at + done.size();
      return (at != std::string::npos && (end == remedy.size() || remedy[end] == ' ')) ||
             remedy.starts_with(command + "FILE ");
    });
  }
  if (flags.common.json) {
    print(preflight::to_json(*report, explain::to_json));
  } else {
    say_text(inspect_report(*report, flags.symbols, described.has_value()));
    print_warnings({}, report->warnings, flags.common.quiet, true);
  }
  return report->verdict == preflight::Verdict::fails ? static_cast<int>(explain::ExitStatus::not_loaded) : 0;
}

// Prints a report. Long lines are wrapped on a terminal only, so that programs find whole values.
void say_wrapped(const std::string& text) {
  const Screen screen = screen_of(stdout);
  const std::string shown = printable(text);
  say_text((screen.terminal ? wrapped_lines(shown, screen.width) : shown));
}

// Prints the report of an outcome with its first line in color.
void say_outcome(const std::string& report, const open::Outcome& outcome) {
  const std::size_t end = std::min(report.find('\n'), report.size());
  const Ink ink = outcome.state == open::State::failed ? Ink::name
                  : outcome.fallback                   ? Ink::doubtful
                                                       : Ink::good;
  say_inked(inked(screen_of(stdout), ink, printable_line(without_passwords(report.substr(0, end)))));
  say_wrapped(report.substr(end));
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
  machine.push_back(manifest::text_of_time(open::OpenContext::now()).substr(0, 10));
  title.machine = join(machine, ", ");
  return title;
}

// Shows the machine, even if parts of it cannot be read. `broken`: why the configuration is not used.
int machine(const InfoFlags& flags, open::OpenContext& context, const std::optional<Diagnosis>& broken) {
  if (flags.platform_json) {
    context.look_for_libraries({});
    print(Json::object().set("format", 1).set("platform", platform::to_json(context.platform(), true)));
  } else if (flags.common.json)
    print(machine_document(context, broken));
  else if (flags.common.verbose)
    say_wrapped(machine_report(context));
  else
    say_inked(first_screen(context, screen_of(stdout), !broken));
  flush_out(stdout);
  if (!flags.common.json) print_warnings(context.warnings(), {}, flags.common.quiet);
  if (broken && !flags.common.json) {
    say_aside("the configuration was not used:\n");
    say_failure(*broken);
  }
  return 0;
}

int installed_by_others(const InfoFlags& flags, open::OpenContext& context) {
  const std::vector<SeenInstallation> seen = look_for_installations(context);
  if (flags.common.json)
    print(to_json(seen));
  else
    say_text(describe(seen));
  return 0;
}

open::OpenRequest open_request(const InfoFlags& flags, resolve::Request request, open::OpenContext& context,
                               transfer::ProgressBar& bar) {
  open::OpenRequest open;
  open.request = std::move(request);
  open.plan_only = flags.plan;
  std::error_code error;
  if (!flags.plugin.empty()) open.plugin = std::filesystem::absolute(path_of(flags.plugin), error);
  open.attempt.probe = !flags.no_probe;
  open.attempt.consent = consent_for(context, &bar, flags.common.yes);
  open.attempt.progress = bar.callback();
  open.attempt.before_probe = [&bar] { bar.step("checking", "loads in a child process"); };
  log_to_standard_error(open.attempt, bar, flags.common.quiet);
  open.bypass_cache = true;  // the report lists every candidate
  return open;
}

// Returns the command for a word that is a subcommand of many other programs; empty for other words.
std::string command_instead_of(const std::string& engine) {
  if (engine == "help") return "engine-info --help shows the help";
  if (engine == "list") return "engine-cache list shows the installed builds";
  return {};
}

int engine(const InfoFlags& flags, resolve::Request asked_for, open::OpenContext& context) {
  if (!flags.plot.empty())
    if (const auto possible = can_plot(path_of(flags.plot)); !possible)
      return end_with(possible.error(), flags.common.json);
  // Never destroyed: an engine logs to the very end.
  auto& bar = *new transfer::ProgressBar(stderr, flags.common.quiet, !flags.common.json);
  open::Outcome& outcome =
      open_in_command(context, open_request(flags, std::move(asked_for), context, bar), flags.common.json);
  bar.clear();
  if (outcome.opened) bar.ready(title_of(outcome.opened->installed));
  if (!flags.platform_file.empty() && outcome.diagnosis && outcome.diagnosis->code == "EH-S13")
    outcome.diagnosis->with("recorded", flags.platform_file, "--platform");
  if (const std::string instead = command_instead_of(flags.engine);
      !instead.empty() && outcome.diagnosis && outcome.diagnosis->code == "EH-S02")
    outcome.diagnosis->with("command_instead", instead, "the command line");

  std::vector<CheckedDevice> checks;
  if (outcome.opened) checks = check_devices(*outcome.opened, context.cancel());
  std::optional<SelfTestReport> tests;
  std::optional<BenchReport> bench;
  if (outcome.opened && flags.self_test) tests = run_self_test(*outcome.opened, context.cancel());
  if (outcome.opened && flags.bench) bench = run_bench(*outcome.opened, context.cancel());
  // A canceled measurement is not shown.
  if (outcome.opened && context.cancel()->canceled()) return end_with(diagnose("EH-P10"), flags.common.json);
  Result<void> drawn;
  if (bench && !flags.plot.empty())
    drawn = plot(*bench, plot_title(context, *outcome.opened), path_of(flags.plot));
  int status = outcome.exit_status();
  if (!drawn) status = static_cast<int>(explain::exit_status(drawn.error()));
  if (status == 0 && tests && !tests->passed) status = static_cast<int>(explain::ExitStatus::not_loaded);

  if (flags.common.json) {
    Json document = with_checks(open::document(context, outcome), checks);
    if (tests) document.set("self_test", to_json(*tests));
    if (bench)
      document.set("bench", to_json(*bench)
                                .set("plot", flags.plot.empty() || !drawn ? Json() : Json(flags.plot))
                                .set("plot_diagnosis", drawn ? Json() : explain::to_json(drawn.error())));
    // The engine is open, but the status is that of the picture.
    if (!drawn && outcome.exit_status() == 0) document.set("diagnosis", explain::to_json(drawn.error()));
    print(document);
    return status;
  }
  say_outcome(outcome_report(context, outcome, flags.explain, flags.common.verbose, flags.platform_file),
              outcome);
  if (!checks.empty()) say("\n%s", describe(checks).c_str());
  if (tests) say("\n%s", describe(*tests).c_str());
  if (bench) say("\n%s", describe(*bench).c_str());
  if (bench && !flags.plot.empty() && drawn) say("  plot in %s\n", flags.plot.c_str());
  flush_out(stdout);
  print_warnings(context.warnings(), outcome.warnings, flags.common.quiet, flags.common.verbose);
  if (!drawn) say_failure(drawn.error());
  if (outcome.state == open::State::failed && outcome.diagnosis)
    say_failure(*outcome.diagnosis, stderr, true);
  return status;
}

int run(int argc, char** argv) {
  CLI::App app{"show what an engine would be on this machine, and open it"};
  InfoFlags flags;
  add_flags(app, flags);
  if (const auto status = parse(app, argc, argv)) return *status;
  const auto asked_for = checked(flags);
  if (!asked_for) return end_with(asked_for.error(), flags.common.json);
  if (!flags.codes.empty()) return explain_codes(flags);
  if (!flags.inspect.empty()) return inspect(flags);

  auto settings = settings_of(flags.common);
  const bool machine_only = flags.engine.empty() && flags.plugin.empty();
  std::optional<Diagnosis> broken;
  if (!settings && machine_only) {
    broken = settings.error();
    settings = settings_without_configuration(flags.common);
  }
  if (!settings) return end_with(settings.error(), flags.common.json);
  std::optional<platform::Platform> recorded;
  if (!flags.platform_file.empty()) {
    auto platform = recorded_platform(flags.platform_file);
    if (!platform) {
      end_with(platform.error(), flags.common.json);
      return static_cast<int>(explain::ExitStatus::usage);
    }
    recorded = std::move(*platform);
  }
  // The libraries to look for are those of known builds; no server is asked for more.
  if (flags.platform_json) settings->offline = true;
  open::OpenContext context(std::move(*settings), std::move(recorded), cancel_on_signal());
  context.refresh();  // people run this command when they doubt something
  if (flags.installations) return installed_by_others(flags, context);
  if (machine_only) return machine(flags, context, broken);
  return engine(flags, *asked_for, context);
}

}  // namespace

int run_program(int argc, char** argv) {
  return guarded(argc, argv, [&] { return run(argc, argv); });
}

}  // namespace enginehost::commands
