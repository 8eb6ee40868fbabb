// The log of changes on this machine: fetched, installed, removed, agreed to, trusted, quarantined.
//
//   <state>/audit/audit.jsonl       one event per line, append-only
//   <state>/audit/audit-<n>.jsonl   earlier files, complete; <n>: number of their last event, 12 digits
//   <state>/audit/lock              held while a line is added
//
// A line is {"format":1,"number","time","event",…facts…,"user","uid","host","process","application","tool",
// "previous"}. `previous` is the sha256 of the line before it, without its line end and across files; the
// very first line has 64 zeros. No file is ever removed; an administrator may remove the oldest ones.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::settings {

// Adds an event to the log; an empty `state_folder` records nothing. `facts`: an object, added in its order.
// Removes user, password and query from URLs in its texts. Any thread, any number of processes. Errors:
// EH-F15, EH-F16, EH-F17, EH-F18 (another process holds the lock for seconds).
Result<void> add_event(const std::filesystem::path& state_folder, std::uint64_t rotate_bytes,
                       std::string_view event, const Json& facts);

struct AuditProblem {
  std::string file, problem;
  std::int64_t line = 0;  // counted from 1; 0: the whole file
};

struct AuditReport {
  std::int64_t files = 0, events = 0;
  std::string last;  // sha256 of the last line; a copy kept elsewhere proves later that nothing was cut off
  std::vector<AuditProblem> problems;
};

// Reads every line and checks that it follows the one before it. Lines cut off at the end show only by
// comparing `last`. Fails only when a file cannot be read.
Result<AuditReport> check_audit(const std::filesystem::path& state_folder);

}  // namespace enginehost::settings
