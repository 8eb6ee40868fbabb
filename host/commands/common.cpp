#include "host/commands/common.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>

#include "base/linked_in.hpp"
#include "base/location.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/help.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/commands/system.hpp"
#include "host/explain/explain.hpp"
#include "host/history/sentinel.hpp"
#include "host/open/open.hpp"
#include "host/transfer/progress_bar.hpp"

namespace enginehost::commands {

namespace {

constexpr std::size_t usual_columns = 80;
constexpr std::size_t widest_text = 100;  // columns; longer lines are hard to read

// Returns the arguments backwards, as CLI11 takes them. After "--flavor=" CLI11 would take the next argument
// as the value; the empty value is passed explicitly, so that an unset shell variable swallows no argument.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments;
  bool flags = true;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    flags = flags && argument != "--";
    const bool empty_value = flags && argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    arguments.push_back(empty_value ? argument.substr(0, argument.size() - 1) : argument);
    if (empty_value) arguments.emplace_back();
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

bool is_blank(std::string_view value) {
  return value.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

// Returns the problem if an option of the command or of a called subcommand got an empty or blank value. No
// option accepts one, because an unset shell variable leaves it, and it would silently drop a condition.
std::optional<std::string> blank_value(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return one->count() > 0; })) {
    const std::vector<std::string>& values = option->results();
    const auto blank = std::find_if(values.begin(), values.end(), is_blank);
    if (blank == values.end()) continue;
    const std::string name = option->get_name();
    const std::string meaning = option->get_description();
    return name + " \"" + *blank + "\" is " + (blank->empty() ? "empty" : "blank") + ": give it a value" +
           (option->nonpositional() ? ", or leave " + name + " out" : "") +
           (meaning.empty() ? "" : " (" + name + ": " + meaning + ")");
  }
  for (const CLI::App* called : app.get_subcommands())
    if (auto found = blank_value(*called)) return found;
  return std::nullopt;
}

CLI::Option* add_flag_of(const settings::Declaration& setting, settings::FlagValues& values, CLI::App& app) {
  using Texts = std::vector<std::string>;
  const std::string name = settings::flag_of(setting.key);
  const std::string help =
      setting.flag.help +
      (setting.rules.has_variable ? " [env: " + settings::variable_of(setting.key) + "]" : "");
  const auto give = [&setting, &values](const Json& given) { setting.flag.give(values, given); };
  switch (setting.member.kind) {
    case settings::Kind::toggle:
      return app.add_flag_callback(
          name, [give] { give(true); }, help);
    case settings::Kind::texts:
    case settings::Kind::paths:
      return repeatable(app.add_option_function<Texts>(
                            name, [give](const Texts& given) { give(Json::strings(given)); }, help))
          ->type_name(setting.flag.value);
    default:
      return app.add_option_function<std::string>(name, give, help)->type_name(setting.flag.value);
  }
}

int answered(const CLI::App& app, const CLI::Success& asked, bool json) {
  if (asked.get_name() == "CallForVersion") {
    if (json)
      print(Json::object().set("format", 1).set("tool", open::tool_document()));
    else
      write_out(stdout, std::string(asked.what()) + "\n");
    return 0;
  }
  const CLI::App* called = &app;
  while (!called->get_subcommands().empty()) called = called->get_subcommands().front();
  if (json)
    print(Json::object().set("format", 1).set("help", help_of(*called, usual_columns)));
  else
    write_out(stdout, help_of(*called, transfer::columns_of(stdout)));
  return 0;
}

}  // namespace

bool json_asked_for(int argc, char** argv) {
  bool asked = false;
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") asked = true;
    // A value that the parser refuses still asks for a document.
    if (argument.starts_with("--json="))
      asked = settings::parse_switch(std::string(argument.substr(7))).value_or(true);
  }
  return asked;
}

CLI::Option* repeatable(CLI::Option* option) {
  return option->expected(1)->allow_extra_args(false)->take_all();
}

std::string version_text() {
  std::string text = std::string("enginehost ") + ENGINEHOST_VERSION;
  const char* before = "\nlinked in  ";
  for (const std::string& line : wrapped(linked_in(), usual_columns - 11)) {
    if (!line.empty()) text += before + line;
    before = "\n           ";
  }
  return text;
}

void add_version_flag(CLI::App& app) {
  app.set_version_flag("--version", version_text(), "print the version")->group("Output");
}

void CommonFlags::add_to(CLI::App& app) {
  repeatable(app.add_option("--repository", values.repositories,
                            "a repository (folder or URL), asked before the configured ones; repeatable "
                            "[env: ENGINEHOST_REPOSITORIES]"))
      ->type_name("URL")
      ->group("Sources");
  app.add_flag("--allow-unsigned", values.allow_unsigned,
               "URLs of --repository may be unsigned: their servers then decide which code runs")
      ->group("Sources");
  app.add_flag("--refresh", values.refresh,
               "ask every repository and slow drivers now; without it, answers are kept (of repositories "
               "for an hour)")
      ->group("Sources");
  for (const settings::Declaration& setting : settings::declarations)
    if (setting.flag.help != nullptr) add_flag_of(setting, values, app)->group("Sources");
  repeatable(app.add_option("--accept-license", values.accept_licenses,
                            "accept the license with this id; repeatable"))
      ->type_name("ID")
      ->group("Consent");
  app.add_flag("--yes", yes, "download without asking, whatever the size; licenses are still asked for")
      ->group("Consent");
  app.add_flag("--json", json, "print exactly one JSON document")->group("Output");
  app.add_flag("--quiet", quiet, "print no progress and no warnings")->group("Output");
  app.add_flag("--verbose", verbose, "print more")->group("Output");
  add_version_flag(app);
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  const bool json = json_asked_for(argc, argv);
  const Words words = words_of(app, argc, argv);
  if (words.swallowed) return end_with(wrong_usage(words.command, *words.swallowed), json);
  try {
    app.parse(arguments_of(argc, argv));
  } catch (const CLI::Success& asked) {
    return answered(app, asked, json);
  } catch (const CLI::ParseError& error) {
    if (words.bare && !words.unknown && !json) {
      say_aside_text(help_of(*words.app, transfer::columns_of(stderr)));
      return static_cast<int>(explain::ExitStatus::usage);
    }
    // The parser reports a missing argument before an unknown one.
    return end_with(wrong_usage(words.command, words.unknown ? *words.unknown : error.what()), json);
  }
  note_given_flags(app);
  if (const auto blank = blank_value(app)) return end_with(wrong_usage(words.command, *blank), json);
  return std::nullopt;
}

settings::FlagValues values_of(const CommonFlags& flags) {
  settings::FlagValues values = flags.values;
  if (flags.verbose) values.log = "info";
  return values;
}

Result<void> become_owner(const std::filesystem::path& folder, bool quiet) {
  TRY_ASSIGN(const auto became, become_owner_of(folder));
  if (became && !quiet)
    print_warnings(
        {path_text(folder) + " belongs to user " + *became + ": this command goes on as that user"}, {},
        false);
  return {};
}

Result<void> go_on_as_owner(const CommonFlags& flags) {
  if (effective_user() != "0") return {};
  settings::Environment environment = settings::Environment::of_this_process();
  const bool named = flags.values.cache || environment.find("ENGINEHOST_CACHE") != nullptr;
  std::filesystem::path folder = named ? std::filesystem::path() : environment.foreign_home;
  // A mistake in a configuration is reported when the settings are used.
  if (folder.empty())
    if (const auto settings = load_settings(values_of(flags), environment)) folder = settings->cache_folder;
  return become_owner(folder, flags.quiet || flags.json);
}

Result<settings::Settings> settings_of(const CommonFlags& flags) {
  return settings::load_settings(values_of(flags), settings::Environment::of_this_process());
}

Result<settings::Settings> settings_without_configuration(const CommonFlags& flags) {
  settings::Environment environment = settings::Environment::of_this_process();
  std::erase_if(environment.variables, [](const auto& variable) {
    return variable.first.starts_with("ENGINEHOST_") && variable.first != "ENGINEHOST_CACHE";
  });
  environment.reads_user_config = false;
  environment.system_config.clear();
  settings::FlagValues values;
  values.cache = flags.values.cache;
  values.offline = true;
  auto settings = settings::load_settings(values, environment);
  if (!settings && environment.variables.erase("ENGINEHOST_CACHE") != 0)
    settings = settings::load_settings(values, environment);
  if (settings && !flags.values.offline)
    for (settings::Setting& setting : settings->effective)
      if (setting.key == "offline") setting.source = "the configuration was left out";
  return settings;
}

std::filesystem::path given_path(const std::string& path) {
  std::error_code error;  // the current folder may be gone
  const std::filesystem::path whole = std::filesystem::absolute(path_of(path), error);
  return error ? path_of(path) : path_of(plain_location(path_text(whole)));
}

std::string title_of(const cache::Installed& installed) {
  return installed.engine.empty() ? installed.plugin
                                  : installed.engine + " " + installed.version + " " + installed.flavor;
}

std::function<void(std::uint64_t, std::uint64_t)> bar_for(transfer::ProgressBar& bar, std::string what) {
  if (!bar.prints()) return {};
  return [&bar, what = std::move(what)](std::uint64_t done, std::uint64_t total) {
    bar.show({transfer::Progress::Phase::checking, done, total, 0, what});
  };
}

int end_with(const Diagnosis& diagnosis, bool json) {
  if (json)
    print(Json::object().set("format", 1).set("diagnosis", explain::to_json(diagnosis)));
  else
    say_failure(diagnosis);
  return static_cast<int>(explain::exit_status(diagnosis));
}

explain::Style style_of(std::FILE* stream) {
  const Screen screen = screen_of(stream);
  return {.width = screen.terminal ? std::min(screen.width, widest_text) : 0, .color = screen.colored};
}

void say_failure(const Diagnosis& diagnosis, std::FILE* stream, bool beside_plan) {
  // The person who stopped the command needs no remedy.
  if (diagnosis.code == Code::canceled)
    return say_aside("%s\n", printable_line(explain::render(diagnosis).cause).c_str());
  explain::Style style = style_of(stream);
  style.beside_plan = beside_plan;
  // Not through say(): it would escape the colors. describe() makes all evidence printable.
  const std::string text = without_passwords(described(diagnosis, style)) + "\n";
  if (stream == stdout)
    write_out(stream, text);
  else
    std::fwrite(text.data(), 1, text.size(), stream);
}

void print(const Json& document) {
  write_out(documents(), without_passwords(document_with_given_flags(document).dump(2)) + "\n");
}

void print_warnings(const std::vector<std::string>& warnings, const std::vector<Diagnosis>& diagnoses,
                    bool quiet, bool verbose) {
  if (quiet) return;
  // EngineHost overcame these by opening the build's own files first. One that a variable of the user causes
  // is printed all the same, because it disturbs other programs.
  const auto is_detail = [](const Diagnosis& warning) {
    return !warning.value(Key::repaired).empty() &&
           std::none_of(warning.evidence.begin(), warning.evidence.end(), [](const Evidence& one) {
             return one.what == Key::path && one.source == "LD_LIBRARY_PATH";
           });
  };
  for (const std::string& warning : warnings)
    say_aside("warning: %s\n", printable_line(with_given_flags(warning)).c_str());
  for (const Diagnosis& warning : diagnoses)
    if (verbose || !is_detail(warning)) say_aside("warning: %s\n", explain::one_line(warning).c_str());
}

namespace {

// Address space that is free again when a failure must be reported and there is no more memory.
constexpr std::size_t reserve_bytes = 2u << 20;

bool answers_with_json = false;
std::terminate_handler usual_terminate = nullptr;

// Reports EH-P51 without memory for it. The texts are those of the catalog.
int end_without_memory() {
  constexpr std::string_view cause = "this process ran out of memory";
  constexpr std::string_view remedy =
      "close other programs, or raise the limits of this one: memory of the "
      "container or job, ulimit -v, ulimit -u";
  const auto write = [](std::FILE* stream, std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) std::fwrite(part.data(), 1, part.size(), stream);
    std::fflush(stream);
  };
  if (answers_with_json)
    write(documents(), {R"({"format": 1, "diagnosis": {"code": Code::out_of_memory, )",
                        R"("title": "out of memory, threads or processes", "cause": ")", cause,
                        R"(", "evidence": [], "remedy": [")", remedy, "\"], \"context\": []}}\n"});
  else
    write(stderr, {"EH-P51  ", cause, "\n  fix         ", remedy, "\n"});
  return static_cast<int>(explain::ExitStatus::cache);
}

// A destructor or another function that must not throw got no memory.
void end_in_terminate() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    history::disown_what_stands();
    leave_at_once(end_without_memory());
  } catch (...) {  // the usual handler prints it
  }
  usual_terminate();
}

}  // namespace

int guarded(int argc, char** argv, const std::function<Result<int>(int argc, char** argv)>& program) {
  answers_with_json = json_asked_for(argc, argv);
  usual_terminate = std::set_terminate(end_in_terminate);
  std::unique_ptr<char[]> reserve;
  try {
    reserve = std::make_unique_for_overwrite<char[]>(reserve_bytes);
    const Result<int> status = program(argc, argv);
    return finish_stdout(status ? *status : end_with(status.error(), answers_with_json));
  } catch (const std::exception& thrown) {
    reserve.reset();
    try {
      return end_with(explain::of_exception(thrown), answers_with_json);
    } catch (const std::exception&) {
      return end_without_memory();
    }
  }
}

}  // namespace enginehost::commands
