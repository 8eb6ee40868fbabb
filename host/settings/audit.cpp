#include "host/settings/audit.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/lock.hpp"
#include "host/settings/records.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;
// Users who may enter the folder may hold the lock for ever; an event is added in milliseconds.
constexpr std::chrono::seconds lock_patience{5};
// 64 zeros, in place of the digest of a previous event.
constexpr std::string_view before_the_first =
    "00000000000000000000000000000000"
    "00000000000000000000000000000000";

// Removes what may be secret in a URL: user, password and the query, which may hold tokens.
std::string without_secrets(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t scheme = text.find("://", at);
    if (scheme == std::string::npos) return result + text.substr(at);
    const std::size_t begin = scheme + 3;
    const std::size_t end = std::min(text.find_first_of(" \t\n\"<>", begin), text.size());
    std::string rest = text.substr(begin, end - begin);
    rest.resize(std::min(rest.find_first_of("?#"), rest.size()));
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (const std::size_t user = rest.substr(0, slash).rfind('@'); user != std::string::npos)
      rest.erase(0, user + 1);
    result += text.substr(at, begin - at) + rest;
    at = end;
  }
  return result;
}

Json cleaned(const Json& value) {
  if (value.is_string()) return without_secrets(value.as_string());
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& element : value.as_array()) list.push(cleaned(element));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [name, member] : value.as_object()) object.set(name, cleaned(member));
  return object;
}

// Returns complete files, oldest first. Their names have one length and therefore sort by number.
std::vector<fs::path> rotated_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (matches_pattern(path_text(at->path().filename()), "audit-*.jsonl")) files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

// The values of the last line that the next line continues.
struct Tail {
  std::int64_t number = 0;
  std::string sha256{before_the_first};
};

Tail tail_of(const std::vector<std::string>& lines) {
  Tail tail;
  if (lines.empty()) return tail;
  tail.sha256 = sha256_hex(lines.back());
  // A cut line has no number; the line before it does.
  std::int64_t after = 0;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line, ++after)
    if (const auto event = parse_json(*line, "audit"); event && (*event)["number"].is_integer()) {
      tail.number = (*event)["number"].as_integer() + after;
      break;
    }
  return tail;
}

Result<Tail> tail_in(const fs::path& folder, const fs::path& current) {
  TRY_ASSIGN(std::vector<std::string> lines, read_lines(current));
  if (const auto files = rotated_files(folder); lines.empty() && !files.empty()) {
    TRY_ASSIGN(lines, read_lines(files.back()));
  }
  return tail_of(lines);
}

std::string padded(std::int64_t number) {
  std::string text = std::to_string(number);
  return std::string(text.size() < 12 ? 12 - text.size() : 0, '0') + text;
}

}  // namespace

Result<void> add_event(const fs::path& state_folder, std::uint64_t rotate_bytes, std::string_view event,
                       const Json& facts) {
  if (state_folder.empty()) return {};
  const fs::path folder = state_folder / "audit";
  TRY(make_folders(folder));
  cache::WaitOptions wait;
  wait.patience = lock_patience;
  const User person = User::of_this_process();
  TRY_ASSIGN(const cache::FileLock lock,
             cache::FileLock::exclusive(folder / "lock", person.application, wait));
  const fs::path current = folder / "audit.jsonl";
  TRY_ASSIGN(const Tail tail, tail_in(folder, current));
  if (const auto stamp = stamp_of(current); stamp && stamp->size >= rotate_bytes) {
    std::error_code error;
    fs::rename(current, folder / ("audit-" + padded(tail.number) + ".jsonl"), error);
    if (error)
      return fail(diagnose_errno(code_of_write_error(error.value()), error.value())
                      .with(Key::file, path_text(current))
                      .with(Key::folder, path_text(folder)));
    TRY(sync_folder(folder));
  }
  Json line = Json::object()
                  .set("format", 1)
                  .set("number", tail.number + 1)
                  .set("time", utc_now())
                  .set("event", event);
  const Json clean = cleaned(facts);
  for (const auto& [name, value] : clean.as_object()) line.set(name, value);
  line.set("user", person.user)
      .set("uid", person.uid)
      .set("host", person.host)
      .set("process", person.process)
      .set("application", person.application)
      .set("tool", "enginehost " ENGINEHOST_VERSION)
      .set("previous", tail.sha256);
  return append_line(current, line.dump());
}

Result<AuditReport> check_audit(const fs::path& state_folder) {
  AuditReport report;
  if (state_folder.empty()) return report;
  std::vector<fs::path> files = rotated_files(state_folder / "audit");
  std::error_code error;
  if (fs::exists(state_folder / "audit" / "audit.jsonl", error))
    files.push_back(state_folder / "audit" / "audit.jsonl");
  std::optional<std::int64_t> number;
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::vector<std::string> lines, read_lines(file));
    ++report.files;
    std::int64_t at = 0;
    const auto problem = [&](std::string text) {
      report.problems.push_back({path_text(file), std::move(text), at});
    };
    for (const std::string& line : lines) {
      ++at;
      ++report.events;
      const auto event = parse_json(line, path_text(file));
      if (!event || !event->is_object()) {
        problem("it is no event: cut, or changed");
        if (number) ++*number;
      } else {
        const std::int64_t own = (*event)["number"].as_integer();
        // The oldest remaining file may begin with any event; the log itself begins at 1.
        const bool first = report.last.empty();
        const std::string& previous = (*event)["previous"].as_string();
        if (first && own == 1 && previous != before_the_first) problem("the first event names one before it");
        if (!first && previous != report.last)
          problem("it does not follow the line before it: a line was changed, added or removed");
        else if (number && own != *number + 1)
          problem("its number is " + std::to_string(own) + " instead of " + std::to_string(*number + 1));
        number = own;
      }
      report.last = sha256_hex(line);
    }
  }
  return report;
}

}  // namespace enginehost::settings
