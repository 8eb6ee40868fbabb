// The log of what changed on this machine: fetched, installed, removed, agreed to, trusted, quarantined.
//
//   <state>/audit/audit.jsonl          one event a line, only appended to
//   <state>/audit/audit-<n>.jsonl      earlier ones, complete, <n> = the number of their last event, 12
//   digits <state>/audit/lock                 held while a line is added
//
// Each line is
// {"format":1,"number","time","event",…facts…,"user","uid","host","process","application","tool",
// "previous"}; `previous` is the sha256 of the line before it, without its end, across files; of the first
// line there ever was it is 64 zeros. Nothing removes a file: an administrator may take the oldest away.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::settings {

// Where events go; a value. Any thread, any number of processes.
class AuditLog {
 public:
  // `state_folder` empty: nothing is kept.
  AuditLog(const std::filesystem::path& state_folder, std::uint64_t rotate_bytes);

  // `facts`: an object, added in its order. URLs in its texts lose user, password and query. EH-F15, EH-F16,
  // EH-F17, EH-F18 (someone holds the lock for seconds).
  Result<void> add(std::string_view event, const Json& facts) const;

 private:
  std::filesystem::path folder_;
  std::uint64_t rotate_bytes_;
};

struct AuditProblem {
  std::string file, problem;
  std::int64_t line = 0;  // counted from 1; 0: of the file
};

struct AuditReport {
  std::int64_t files = 0, events = 0;
  std::string
      last;  // sha256 of the last line: whoever keeps it elsewhere knows later that nothing was cut off
  std::vector<AuditProblem> problems;
};

// Reads every line and checks that it follows the one before it. What was cut off at the end cannot be seen
// but by comparing `last`. Fails only when a file cannot be read.
Result<AuditReport> check_audit(const std::filesystem::path& state_folder);

}  // namespace enginehost::settings
