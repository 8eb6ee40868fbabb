#include "host/transfer/pip.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t prefix_seconds = 3600;

// Prints the prefix even where pip is missing, then pip's place, then its help.
constexpr const char* question = R"(import sys
print(sys.prefix, flush=True)
import pip, runpy
print(pip.__file__, flush=True)
sys.argv[1:] = ["install", "--isolated", "--help"]
runpy.run_module("pip", run_name="__main__"))";

struct KnownAnswer {
  PipAnswer answer;
  std::string program, program_stamp;  // of the Python, or of pip's script
  std::string pip, pip_stamp;          // of the package; empty: not known
  std::int64_t at = 0;
};

std::string stamp_text(const std::string& file) {
  const auto stamp = stamp_of(path_of(file));
  if (!stamp) return {};
  return std::to_string(stamp->device) + " " + std::to_string(stamp->inode) + " " +
         std::to_string(stamp->size) + " " + std::to_string(stamp->modified_ns);
}

FoundProgram find_in_path(const std::string& name) {
  return find_program(name, environment_variable("PATH").value_or("/usr/bin:/bin"));
}

bool is_valid(const KnownAnswer& known, bool needs_prefix) {
  const auto age = static_cast<std::int64_t>(std::time(nullptr)) - known.at;
  if (needs_prefix && (age < 0 || age > prefix_seconds)) return false;
  if (known.program_stamp.empty() || known.program_stamp != stamp_text(known.program)) return false;
  if (!known.pip.empty() && known.pip_stamp != stamp_text(known.pip)) return false;
  return std::ranges::any_of(pip_commands(), [&](const std::vector<std::string>& command) {
    return path_text(find_in_path(command.front()).file) == known.program;
  });
}

fs::path file_of(const TransferOptions& options) { return path_of(options.answers_folder) / "pip.json"; }

std::optional<KnownAnswer> recall(const TransferOptions& options) {
  if (options.answers_folder.empty() || who_may_change(file_of(options), Purpose::belief).problem) return {};
  const auto text = read_file(file_of(options), 1u << 16);
  const auto read = text ? parse_json(*text, "pip.json") : Result<Json>(fail(text.error()));
  if (!read || (*read)["format"].as_integer() != 1 || !is_url((*read)["index"].as_string())) return {};
  const Json& document = *read;
  return KnownAnswer{{document["index"].as_string(), path_of(document["prefix"].as_string())},
                     document["program"].as_string(),
                     document["program_stamp"].as_string(),
                     document["pip"].as_string(),
                     document["pip_stamp"].as_string(),
                     document["at"].as_integer()};
}

// A failure to write is ignored: the next process asks again.
void remember(const KnownAnswer& known, const TransferOptions& options) {
  if (options.answers_folder.empty() || without_passwords(known.answer.index) != known.answer.index) return;
  if (!make_folders(path_of(options.answers_folder))) return;
  const Json document = std::move(Json::object()
                                      .set("format", 1)
                                      .set("program", known.program)
                                      .set("program_stamp", known.program_stamp)
                                      .set("pip", known.pip)
                                      .set("pip_stamp", known.pip_stamp)
                                      .set("prefix", path_text(known.answer.prefix))
                                      .set("index", known.answer.index)
                                      .set("at", known.at));
  static_cast<void>(write_file(file_of(options), document.dump(2) + "\n", false));
}

// Parses "--index-url <url>  Base URL of the Python Package Index (default https://…).".
std::string default_in_help(std::string_view help) {
  const std::size_t option = help.find("--index-url <url>");
  const std::size_t mark = option == std::string_view::npos ? option : help.find("(default ", option);
  if (mark == std::string_view::npos) return {};
  const std::string_view rest = help.substr(mark + 9);
  const std::string url(trim(rest.substr(0, rest.find(')'))));
  return is_url(url) ? url : std::string();
}

// Returns the last two lines that the program wrote to standard error.
std::string last_lines(std::string_view error) {
  std::vector<std::string> lines;
  for (const std::string& line : split(error, '\n'))
    if (!trim(line).empty()) lines.emplace_back(trim(line).substr(0, 200));
  if (lines.size() > 2) lines.erase(lines.begin(), lines.end() - 2);
  return join(lines, " | ");
}

// Returns why a pip gave no index; nothing if there is none: Python then says so.
std::optional<Diagnosis> why_no_index(const Result<ChildOutcome>& outcome, std::string_view command,
                                      std::chrono::seconds deadline) {
  Diagnosis failure = diagnose(Code::pip_fails).with(Key::program, command);
  if (!outcome) {
    if (outcome.error().code != Code::probe_not_started) return outcome.error();  // a limit of this machine
    return std::move(failure.with(Key::os_said, outcome.error().value(Key::os_said)));
  }
  if (outcome->error.find("No module named 'pip'") != std::string::npos ||
      outcome->error.find("No module named pip") != std::string::npos)
    return {};
  if (outcome->timed_out)
    failure.with(Key::deadline, std::to_string(deadline.count()) + " s");
  else if (outcome->status_lost)
    failure.with(Key::status_lost, lost_status, "waitpid");
  else if (outcome->signal != 0)
    failure.with(Key::signal, signal_name(outcome->signal), "how it ended");
  else if (outcome->exit_code != 0)
    failure.with(Key::exit_code, std::to_string(outcome->exit_code), "how it ended");
  else
    failure.with(Key::problem, "its help names no default index");
  if (const std::string said = last_lines(outcome->error); !said.empty())
    failure.with(Key::said, said, "its standard error");
  return failure;
}

// Asks one of pip_commands().
KnownAnswer ask(const std::vector<std::string>& command, const fs::path& program,
                const std::optional<CancelToken>& cancel) {
  const bool is_python = command.size() > 1;
  ChildRequest request;
  request.argv = {command.front()};
  if (is_python)
    request.argv.insert(request.argv.end(), {"-c", question});
  else
    request.argv.insert(request.argv.end(), {"install", "--isolated", "--help"});
  // Wide, so that the help breaks no line; in the C locale, so that its words are the expected ones.
  request.environment = {"COLUMNS=1000", "LC_ALL=C.UTF-8", "PYTHONIOENCODING=utf-8", "PIP_NO_COLOR=1",
                         std::string("PIP_CONFIG_FILE=") + null_device};
  constexpr std::chrono::seconds deadline{20};
  request.deadline = deadline;
  request.keep_bytes = 1u << 20;
  request.cancel = cancel;
  KnownAnswer known;
  known.program = path_text(program);
  known.program_stamp = stamp_text(known.program);
  known.at = static_cast<std::int64_t>(std::time(nullptr));
  const auto outcome = run_by_name(std::move(request));
  // The index in its help is the answer, even if the exit status was lost.
  if (outcome && (outcome->succeeded() || (outcome->status_lost && !outcome->timed_out)))
    known.answer.index = default_in_help(outcome->output);
  if (known.answer.index.empty()) known.answer.failure = why_no_index(outcome, join(command, " "), deadline);
  if (!outcome || !is_python) return known;
  const std::vector<std::string> lines = split(outcome->output, '\n');
  known.answer.prefix = path_of(trim(lines.front()));
  if (!known.answer.prefix.is_absolute()) known.answer.prefix.clear();
  if (lines.size() > 1) known.pip = trim(lines[1]);
  known.pip_stamp = stamp_text(known.pip);
  return known;
}

}  // namespace

Result<PipAnswer> ask_pip(const TransferOptions& options, bool needs_prefix,
                          const std::optional<CancelToken>& cancel) {
  static std::mutex& mutex = *new std::mutex;
  static auto& last = *new std::optional<KnownAnswer>;
  const std::lock_guard lock(mutex);
  if (!last) last = recall(options);
  if (last && (needs_prefix || !last->answer.index.empty()) && is_valid(*last, needs_prefix))
    return last->answer;
  Diagnosis silent = diagnose(Code::no_package_index);
  std::optional<KnownAnswer> python;
  std::optional<Diagnosis> failed;
  for (const std::vector<std::string>& command : pip_commands()) {
    silent.with(Key::asked, join(command, " "));
    const FoundProgram program = find_in_path(command.front());
    for (const std::string& skipped : program.skipped)
      if (const std::vector<std::string> known = silent.values(Key::skipped);
          std::ranges::find(known, skipped) == known.end())
        silent.with(Key::skipped, skipped, "PATH");
    if (program.file.empty()) continue;
    KnownAnswer known = ask(command, program.file, cancel);
    if (cancel && cancel->canceled()) return fail(diagnose(Code::canceled));
    if (!python && !known.answer.prefix.empty()) python = known;
    if (known.answer.failure && !failed) failed = known.answer.failure;
    // The others would fail in the same way.
    if (known.answer.failure && (known.answer.failure->code != Code::pip_fails ||
                                 !known.answer.failure->value(Key::deadline).empty()))
      break;
    if (known.answer.index.empty()) continue;
    if (python) known.answer.prefix = python->answer.prefix;
    remember(known, options);
    last = std::move(known);
    return last->answer;
  }
  // The prefix of a Python without pip is an answer, too. The next process asks again, because pip may be
  // installed.
  if (needs_prefix && python) {
    python->answer.failure = failed;
    if (!failed) last = python;
    return python->answer;
  }
  if (!failed)
    return fail(std::move(silent.with(Key::problem, "there is no pip, and no index is configured")));
  for (const std::string& skipped : silent.values(Key::skipped)) failed->with(Key::skipped, skipped, "PATH");
  return fail(std::move(*failed));
}

std::optional<fs::path> python_prefix() {
  if (environment_variable("PIP_CONFIG_FILE") == null_device) return fs::path();  // no file is read
  std::error_code error;
  const fs::path active = path_of(environment_variable("VIRTUAL_ENV").value_or(""));
  if (active.is_absolute() && fs::exists(active / "pyvenv.cfg", error)) return active;
  for (const std::vector<std::string>& command : pip_commands()) {
    if (command.size() == 1) continue;
    if (const fs::path python = find_in_path(command.front()).file; !python.empty()) return prefix_of(python);
  }
  return fs::path();
}

}  // namespace enginehost::transfer
