#include "host/commands/engine_info.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/common.hpp"
#include "host/commands/device_checks.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/program.hpp"
#include "host/commands/report.hpp"
#include "host/commands/say.hpp"
#include "host/commands/warm.hpp"
#include "host/explain/describe_code.hpp"
#include "host/explain/explain.hpp"
#include "host/open/open.hpp"
#include "host/platform/detect.hpp"
#include "host/preflight/preflight.hpp"
#include "host/resolve/passed_over.hpp"

namespace enginehost::commands {
namespace {

struct InfoFlags {
  CommonFlags common;
  EngineConstraints asked;
  std::string platform_file, plugin, inspect;
  std::vector<std::string> codes;
  bool plan = false, explain = false, self_test = false, warm = false, no_probe = false,
       platform_json = false, symbols = false, installations = false;
  Measurement bench;
  DerivedBuilds derived;
};

constexpr const char* program = "engine-info";

struct GivenFlags {
  const char* flag;
  bool given;
};

// Returns "A and B" for the first two given flags of a list whose members exclude each other.
std::string both_of(std::initializer_list<GivenFlags> all) {
  std::string first;
  for (const GivenFlags& one : all) {
    if (!one.given) continue;
    if (!first.empty()) return first + " and " + one.flag;
    first = one.flag;
  }
  return {};
}

std::string first_of(std::initializer_list<GivenFlags> all) {
  for (const GivenFlags& one : all)
    if (one.given) return one.flag;
  return {};
}

std::string problem_of(const InfoFlags& flags) {
  const bool engine = !flags.asked.engine.empty(), plugin = !flags.plugin.empty();
  const bool recorded = !flags.platform_file.empty(), inspect = !flags.inspect.empty();
  const bool codes = !flags.codes.empty();
  if (const std::string both = both_of({{"ENGINE", engine},
                                        {"--plugin", plugin},
                                        {"--platform-json", flags.platform_json},
                                        {"--installations", flags.installations},
                                        {"--inspect", inspect},
                                        {"--code", codes}});
      !both.empty())
    return both + " ask for different answers: give one of them";
  if (const std::string flag = first_of({{"--flavor", !flags.asked.flavor.empty()},
                                         {"--require", !flags.asked.require.empty()},
                                         {"--force", !flags.asked.force.empty()},
                                         {"--plan", flags.plan},
                                         {"--explain", flags.explain},
                                         {"--warm", flags.warm},
                                         {"--from-index", flags.derived.asked()}});
      !flag.empty() && plugin)
    return flag + " is about builds of manifests, and --plugin names the file to open: leave one of them out";
  if (const std::string flag = first_of({{"--flavor", !flags.asked.flavor.empty()},
                                         {"--require", !flags.asked.require.empty()},
                                         {"--device", !flags.asked.device.empty()},
                                         {"--force", !flags.asked.force.empty()},
                                         {"--plan", flags.plan},
                                         {"--explain", flags.explain},
                                         {"--self-test", flags.self_test},
                                         {"--warm", flags.warm},
                                         {"--bench", flags.bench.asked()},
                                         {"--from-index", flags.derived.asked()},
                                         {"--no-probe", flags.no_probe}});
      !flag.empty() && !engine && !plugin)
    return flag + " is about an engine, and none is named: engine-info ENGINE " + flag;
  if (flags.symbols && !inspect) return "--symbols is about the file of --inspect, which is not given";
  if (const std::string mode =
          first_of({{"--plugin opens a file on", plugin},
                    {"--installations are those of", flags.installations},
                    {"--update compares with the builds of", flags.common.values.update.has_value()},
                    {"--from-index derives builds for", flags.derived.asked()},
                    {"--code says the same for", codes}});
      !mode.empty() && recorded)
    return mode + " this machine, and --platform names another one: leave one of them out";
  if (flags.plan && flags.derived.asked())
    return "--from-index reads archives of the package index, and --plan downloads nothing: leave one of "
           "them out";
  if (const std::string flag = first_of({{"--self-test", flags.self_test},
                                         {"--warm", flags.warm},
                                         {"--bench", flags.bench.asked()},
                                         {"--no-probe", flags.no_probe}});
      !flag.empty() && (flags.plan || recorded))
    return flag + " needs an open engine, and " + (flags.plan ? "--plan" : "--platform") +
           " only decides: leave one of them out";
  return {};
}

void add_flags(CLI::App& app, InfoFlags& flags, AddMeasurement add_bench, AddDerivedBuilds add_derived) {
  app.name("engine-info");
  app.add_option("ENGINE[@VERSION]", flags.asked.engine,
                 "the engine to open, as an application would; @2.0 is the newest 2.0.x");
  const char* group = "Choosing";
  add_choice(
      app, flags.asked, flags.common, group,
      "the device that must be opened: cuda:0, mps, gpu (any), ...; \"cuda:0,cpu\" allows cpu instead");
  if (add_derived != nullptr) flags.derived = add_derived(app, group);
  app.add_flag("--plan", flags.plan, "decide only: download nothing, load nothing")->group(group);
  app.add_flag("--explain", flags.explain,
               "show every candidate with every requirement, what was observed, and where")
      ->group(group);
  app.add_option("--platform", flags.platform_file,
                 "decide for a recorded machine (implies --plan); with --inspect: check for that machine")
      ->type_name("FILE")
      ->group(group);
  group = "Trying it";
  app.add_flag("--self-test", flags.self_test, "run the engine's self-test on each device")->group(group);
  app.add_flag("--warm", flags.warm,
               "let the driver compile the build's GPU code now, where it has only PTX for a GPU")
      ->group(group);
  if (add_bench != nullptr) flags.bench = add_bench(app, group);
  app.add_option("--plugin", flags.plugin, "open a plugin file without a manifest, for engine authors")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--no-probe", flags.no_probe, "load in this process at once, without a child process first")
      ->group(group);
  group = "Other questions";
  app.add_option("--inspect", flags.inspect, "check any shared library without loading it")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--symbols", flags.symbols,
               "with --inspect: list each undefined symbol and count it as a failure")
      ->group(group);
  app.add_option("--code", flags.codes, "what failure codes mean and how they are repaired: EH-L01, l01")
      ->delimiter(',')
      ->type_name("CODE")
      ->group(group);
  app.add_flag("--installations", flags.installations,
               "engines that other software installed here, and which can be opened in place")
      ->group(group);
  app.add_flag("--platform-json", flags.platform_json, "print this machine as a file for --platform")
      ->group(group);
  flags.common.add_to(app);
}

// Returns the request that ENGINE and the flags make. Errors: EH-P40 for flags that do not go together,
// because one of them would be ignored.
Result<resolve::Request> checked(const InfoFlags& flags) {
  if (const std::string problem = problem_of(flags); !problem.empty())
    return fail(wrong_usage(program, problem));
  return request_of(program, flags.asked);
}

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
Result<int> explain_codes(const InfoFlags& flags) {
  std::vector<const explain::Entry*> entries;
  for (const std::string& code : flags.codes) {
    entries.push_back(explain::find(code));
    if (entries.back() != nullptr) continue;
    std::vector<std::string> known;
    for (const explain::Entry& entry : explain::all()) known.emplace_back(text_of(entry.code));
    Diagnosis unknown = diagnose(Code::failure_code_unknown).with(Key::code, code);
    if (const auto near = nearest(explain::normalised_code(code), known, 2))
      unknown.with(Key::nearest, *near);
    return fail(std::move(unknown));
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
  // Files show what is needed here; no driver is asked.
  const platform::Platform facts = described ? platform::Platform() : platform::detect({});
  auto report = explain::mark_as_argument(
      preflight::inspect(file, flags.symbols, here, described ? &*described : nullptr, &facts), file);
  if (!report) {
    end_with(report.error(), flags.common.json);
    return static_cast<int>(explain::ExitStatus::usage);
  }
  const std::string command = "engine-info --inspect ", done = command + shell_word(path_text(file));
  for (Diagnosis& diagnosis : report->diagnoses) {
    diagnosis = explain::mark_as_argument(std::move(diagnosis), file);
    // Only files of a cache can be fetched again; what this file needs may be anywhere.
    if (const std::filesystem::path about = path_of(diagnosis.value(Key::file));
        diagnosis.value(Key::place).empty() && about.is_absolute() && !is_in_a_view(about))
      diagnosis.with(Key::outside, "yes", "no file of the cache");
    diagnosis.recorded.remedy = explain::render(diagnosis).remedy;
    // The command that just ran repairs nothing.
    std::erase_if(diagnosis.recorded.remedy, [&](const std::string& remedy) {
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

// Documents are passed on in bug reports. Without --verbose they have no UUIDs, no home folder and no name of
// a user. Only the paths of an opened build stay, because programs use them.
Json with_platform_for_others(Json document, open::OpenContext& context, const InfoFlags& flags) {
  if (flags.common.verbose) return document;
  const platform::Identity user = platform::this_user();
  document.set("platform", platform::to_json(context.platform(), true));
  for (const char* part : {"config", "installed", "set_aside", "failures", "warnings"})
    if (const Json* known = document.find(part)) document.set(part, platform::anonymous(*known, user));
  if (const Json* outcome = document.find("outcome"); outcome != nullptr && outcome->is_object()) {
    Json without = *outcome;
    without.set("devices", platform::anonymous((*outcome)["devices"], user));
    document.set("outcome", std::move(without));
  }
  return document;
}

// Shows the machine, even if parts of it cannot be read. `broken`: why the configuration is not used, which
// also decides the status.
int machine(const InfoFlags& flags, open::OpenContext& context, const std::optional<Diagnosis>& broken) {
  if (flags.platform_json) {
    context.look_for_libraries({});
    print(Json::object().set("format", 1).set("platform", platform::to_json(context.platform(), true)));
  } else if (flags.common.json)
    print(with_platform_for_others(machine_document(context, broken), context, flags));
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
  return broken ? static_cast<int>(explain::exit_status(*broken)) : 0;
}

int installed_by_others(const InfoFlags& flags, open::OpenContext& context) {
  const std::vector<SeenInstallation> seen = look_for_installations(context);
  if (flags.common.json)
    print(to_json(seen));
  else
    say_wrapped(describe(seen));
  return 0;
}

open::OpenRequest open_request(const InfoFlags& flags, resolve::Request request) {
  open::OpenRequest open;
  open.request = std::move(request);
  open.plan_only = flags.plan;
  std::error_code error;
  if (!flags.plugin.empty()) open.plugin = std::filesystem::absolute(path_of(flags.plugin), error);
  open.attempt.probe = !flags.no_probe;
  if (flags.warm) open.attempt.probe_deadline = longest_compilation;
  open.bypass_cache = true;  // the report lists every candidate
  return open;
}

// Returns the command for a word that is a subcommand of many other programs; empty for other words.
std::string command_instead_of(const std::string& engine) {
  if (engine == "help") return "engine-info --help shows the help";
  if (engine == "list") return "engine-cache list shows the installed builds";
  return {};
}

Result<int> engine(const InfoFlags& flags, resolve::Request asked_for, open::OpenContext& context) {
  if (flags.bench.asked()) TRY(flags.bench.check());
  open::Outcome& outcome = open_in_command(context, open_request(flags, std::move(asked_for)), flags.common);
  if (!flags.platform_file.empty() && outcome.diagnosis &&
      outcome.diagnosis->code == Code::not_installed_and_offline)
    outcome.diagnosis->with(Key::recorded, flags.platform_file, "--platform");
  if (const std::string instead = command_instead_of(flags.asked.engine);
      !instead.empty() && outcome.diagnosis && outcome.diagnosis->code == Code::engine_unknown)
    outcome.diagnosis->with(Key::command_instead, instead, "the command line");

  if (outcome.diagnosis && flags.platform_file.empty())
    flags.derived.suggest(context, outcome.plan.request, *outcome.diagnosis);

  std::vector<CheckedDevice> checks;
  if (outcome.opened) checks = check_devices(*outcome.opened, context.cancel());
  std::optional<SelfTestReport> tests;
  std::optional<Warmed> warmed;
  if (outcome.opened && flags.warm && outcome.chosen != nullptr)
    warmed = warm(*outcome.opened, resolve::compiled_for(*outcome.chosen), context.cancel());
  std::optional<Measured> bench;
  if (outcome.opened && flags.self_test) tests = run_self_test(*outcome.opened, context.cancel());
  if (outcome.opened && flags.bench.asked()) bench = flags.bench.run(context, *outcome.opened);
  // A canceled measurement is not shown.
  if (outcome.opened && context.cancel()->canceled()) return fail(diagnose(Code::canceled));
  const std::optional<Diagnosis> not_drawn = bench ? bench->failure : std::nullopt;
  int status = outcome.exit_status();
  if (not_drawn) status = static_cast<int>(explain::exit_status(*not_drawn));
  if (status == 0 && ((tests && !tests->passed) || (warmed && !warmed->passed())))
    status = static_cast<int>(explain::ExitStatus::not_loaded);

  if (flags.common.json) {
    Json document =
        with_platform_for_others(with_checks(open::document(context, outcome), checks), context, flags);
    if (tests) document.set("self_test", to_json(*tests));
    if (warmed) document.set("warmed", to_json(*warmed));
    if (bench) document.set("bench", std::move(bench->document));
    // The engine is open, but the status is that of the picture.
    if (not_drawn && outcome.exit_status() == 0) document.set("diagnosis", explain::to_json(*not_drawn));
    print(document);
    return status;
  }
  if (outcome.diagnosis && outcome.diagnosis->code == Code::canceled) {
    say_failure(*outcome.diagnosis);
    return status;
  }
  const OutcomeReport report =
      outcome_report(context, outcome, flags.explain, flags.common.verbose, flags.platform_file);
  say_outcome(report.result, outcome);
  const bool failed = outcome.state == open::State::failed;
  if (!failed) say_wrapped(report.builds);
  if (!checks.empty()) say("\n%s", describe(checks).c_str());
  if (tests) say("\n%s", describe(*tests).c_str());
  if (warmed) say("\n%s", describe(*warmed).c_str());
  if (bench) say("\n%s", bench->text.c_str());
  flush_out(stdout);
  // The last line offers the table of the refused builds.
  if (failed && outcome.diagnosis) say_failure(*outcome.diagnosis, stderr, true);
  print_warnings(context.warnings(), outcome.warnings, flags.common.quiet, flags.common.verbose);
  if (warmed) print_warnings({}, warmed->unkept, flags.common.quiet, true);
  if (not_drawn) say_failure(*not_drawn);
  if (failed) say_wrapped(report.builds);
  return status;
}

Result<int> run(int argc, char** argv, AddMeasurement add_bench, AddDerivedBuilds add_derived) {
  CLI::App app{"show what an engine would be on this machine, and open it"};
  InfoFlags flags;
  add_flags(app, flags, add_bench, add_derived);
  if (const auto status = parse(app, argc, argv)) return *status;
  TRY_ASSIGN(resolve::Request asked_for, checked(flags));
  if (!flags.codes.empty()) return explain_codes(flags);
  if (!flags.inspect.empty()) return inspect(flags);

  TRY(go_on_as_owner(flags.common));
  auto settings = settings_of(flags.common);
  const bool machine_only = flags.asked.engine.empty() && flags.plugin.empty();
  std::optional<Diagnosis> broken;
  if (!settings && machine_only) {
    broken = settings.error();
    settings = settings_without_configuration(flags.common);
  }
  if (!settings) return fail(std::move(settings).error());
  std::optional<platform::Platform> recorded;
  if (!flags.platform_file.empty()) {
    auto platform = recorded_platform(flags.platform_file);
    if (!platform) {
      end_with(platform.error(), flags.common.json);
      return static_cast<int>(explain::ExitStatus::usage);
    }
    recorded = std::move(*platform);
  }
  if (flags.derived.asked()) TRY(flags.derived.add(flags.common, *settings, asked_for));
  // The libraries to look for are those of known builds; no server is asked for more.
  if (flags.platform_json) settings->offline = true;
  open::OpenContext context(std::move(*settings), std::move(recorded), cancel_on_signal());
  context.refresh();  // people run this command when they doubt something
  if (flags.installations) return installed_by_others(flags, context);
  if (machine_only) return machine(flags, context, broken);
  return engine(flags, std::move(asked_for), context);
}

}  // namespace

int run_engine_info(int argc, char** argv, AddMeasurement add_bench, AddDerivedBuilds add_derived) {
  return guarded(argc, argv, [&](int, char**) { return run(argc, argv, add_bench, add_derived); });
}

}  // namespace enginehost::commands
