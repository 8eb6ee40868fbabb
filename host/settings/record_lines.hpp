// A file of records, one JSON object a line, that only grows.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::settings {

// Whether lines can be read of it and added to it: nothing is there, or a file, or a link to one. EH-F16 with
// "kind" where a folder, a lost link, a pipe or a device would stop or swallow them; engine-cache verify
// --repair moves it aside.
Result<void> check_record_file(const std::filesystem::path& file);

// Appends the line and its end in one write, and makes it durable. Creates folder and file (0644). A file
// that ends in the middle of a line (a power cut) gets that line's end first. Any thread, any process.
// EH-F15, EH-F16, EH-F17 with "file" and the errno facts.
Result<void> append_line(const std::filesystem::path& file, std::string_view line);

// Every line without its end, also one that was cut; nothing when there is no file. Fails as read_file()
// does.
Result<std::vector<std::string>> read_lines(const std::filesystem::path& file);

}  // namespace enginehost::settings
