#include "base/child_process.hpp"

#include <cerrno>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

constexpr bool on_windows = fs::path::preferred_separator == '\\';
constexpr char list_separator = on_windows ? ';' : ':';

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && calls::access(file.c_str(), X_OK) == 0;
}

// A user who may add files to the folder chooses what a name starts, whatever the sticky bit.
std::optional<Diagnosis> problem_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  auto problem = who_may_change(folder, Purpose::program).problem;
  return problem ? problem : who_may_change(file, Purpose::program, {.above = folder, .sdk = {}}).problem;
}

}  // namespace

FoundProgram find_program(std::string_view name, std::string_view path) {
  FoundProgram result;
  for (const std::string& entry : split(path, list_separator)) {
    fs::path file = path_of(entry) / path_of(name);
    if (on_windows && !file.has_extension()) file += ".exe";
    if (!is_program(file)) continue;
    if (!path_of(entry).is_absolute()) {
      result.skipped.push_back((entry.empty() ? "an empty entry" : entry) + ": it is not an absolute folder");
    } else if (const auto problem = problem_of(file)) {
      result.skipped.push_back(reason_of(*problem));
    } else {
      result.file = std::move(file);
      return result;
    }
  }
  return result;
}

Result<ChildOutcome> run_by_name(ChildRequest request) {
  const std::string name = request.argv.front();
  const FoundProgram found = find_program(name, environment_variable("PATH").value_or("/usr/bin:/bin"));
  if (found.file.empty()) {
    Diagnosis missing = diagnose_errno(Code::probe_not_started, ENOENT).with(Key::program, name);
    for (const std::string& entry : found.skipped) missing.with(Key::skipped, entry, "PATH");
    return fail(std::move(missing));
  }
  request.argv.front() = path_text(found.file);
  request.folder = path_text(found.file.root_path());
  request.environment.emplace_back("PYTHONSAFEPATH=1");
  return run_child(request);
}

}  // namespace enginehost
