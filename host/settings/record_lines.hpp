// An append-only file of records, one JSON object per line.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::settings {

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
