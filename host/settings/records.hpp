// Records that state who acted and when, and the append-only files that hold them: one JSON object per line.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::settings {

// The user of this process.
struct User {
  std::uint64_t uid = 0;    // on Windows a number made of the SID
  std::string user;         // its name, or empty; the number is what counts
  std::string host;         // this machine's name
  std::string application;  // the file name of the running executable
  std::int64_t process = 0;

  // The user's name comes from /etc/passwd, else $LOGNAME.
  static User of_this_process();
};

// Returns the current time: "2026-11-21T09:30:00Z".
std::string utc_now();

// Returns "2026-11-21 09:30:00 UTC" for a time in seconds since 1970.
std::string utc_text(std::int64_t seconds);

// Checks that lines can be read from it and added to it: the path is free, a file, or a link to one. Error:
// EH-F16 with "kind" for a folder, a dangling link, a pipe or a device, which would block or swallow lines;
// engine-cache verify --repair moves it aside.
Result<void> check_record_file(const std::filesystem::path& file);

// Appends the line and its end in one write and makes it durable. Creates folder and file (0644). If the file
// ends in the middle of a line (a power failure), ends that line first. Any thread, any process. Errors:
// EH-F15, EH-F16, EH-F17 with "file" and the errno facts.
Result<void> append_line(const std::filesystem::path& file, std::string_view line);

// Returns every line without its end, including one that was cut; empty when there is no file. Fails as
// read_file() does.
Result<std::vector<std::string>> read_lines(const std::filesystem::path& file);

}  // namespace enginehost::settings
