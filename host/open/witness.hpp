// What a ticket rests on, one line each: "until SECONDS", "made SECONDS", "stamp DEVICE INODE SIZE TIME
// PATH", "rights DEVICE INODE SIZE TIME CHANGED PATH", "absent PATH", "empty FOLDER", "writable FOLDER",
// "runnable FILE".
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace enginehost::open {

// True when the line still tells the truth; false for what is no such line. One or two system calls.
bool holds(std::string_view name, std::string_view value, std::int64_t now);
bool is_witness(std::string_view name);

// The line of a file as it is now. `with_rights`: also whether its owner or its rights were changed.
std::string stamp_line(const std::string& path, bool with_rights = false);

// True when nothing happened to the file shortly before `moment` or since, not even a rename (which only
// ctime tells).
bool is_at_rest(const std::string& path, std::int64_t moment_ns);
bool is_empty_folder(const std::string& folder);

std::int64_t wall_clock_ns();

// Tickets of requests that nobody makes any more would stay for ever; those that are made come again.
void make_room(const std::filesystem::path& folder);

}  // namespace enginehost::open
