// What a cached decision or a early decision rests on, one line each. A line of a file as it was:
//   "stamp DEVICE INODE SIZE TIME PATH", "rights DEVICE INODE SIZE TIME CHANGED PATH" (also whether owner or
//   rights were changed), "identity DEVICE INODE PATH", "content CHECKSUM PATH", "names CHECKSUM PATH",
//   "there PATH", "absent PATH", "empty FOLDER", "writable FOLDER", "runnable FILE", "noexec FOLDER"
//   (code may not be run there).
// A folder that vouches for names in it and below: "folder DEVICE INODE CHANGED PATH", or its "stamp" or
// "rights"; the lines "if-there PATH" and "if-absent PATH" that follow it are looked at only when it changed.
// "still DEVICE INODE CHANGED FOLDER" is "empty", seen in one look while nothing happened in the folder. Both
// go by ctime, which nobody can set back.
// What this process may take: "limits TEXT" (history::process_limits()).
// The time: "until SECONDS", "made SECONDS", "boot NANOSECONDS " (base/process.hpp's boot_moment_ns()).
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace enginehost::open {

// Lines are held against the machine in the order in which they stand. Use from one thread.
class DependencyStamps {
 public:
  explicit DependencyStamps(std::int64_t now) : now_(now) {}

  // True when the line still tells the truth; false for what is no such line. One or two system calls, or
  // none. `value` is what follows the name; a zero byte stands behind it.
  bool hold(std::string_view name, std::string_view value);

 private:
  enum class Of { identity, stamp, change, rights };
  static bool file_stayed(Of of, const char* value);

  std::int64_t now_;
  bool folder_stayed_ = false;
};

bool is_dependency_stamp(std::string_view name);

// Of the value of a "stamp" that was made here, with a zero byte behind it; takes all up to the path off it.
FileStamp stamp_in(std::string_view& value);

// The line of a file as it is now. `with_rights`: also whether its owner or its rights were changed.
std::string stamp_line(const std::string& path, bool with_rights = false);

// The line of what this process may take now.
std::string limits_line();

// True for a time so long before the moment that a later change has another one.
bool is_settled(std::int64_t time_ns, std::int64_t moment_ns);

// True when nothing happened to the file shortly before `moment` or since, not even a rename (which only
// ctime tells).
bool is_at_rest(const std::string& path, std::int64_t moment_ns);
// Also of a folder that is not there; false for one that cannot be looked into.
bool is_empty_folder(const char* folder);

// Of what "content" and "names" compare, and what names the files of early decisions: 32 hexadecimal digits,
// no protection against people.
std::string checksum(std::string_view text);

// What a file says; nothing for one that cannot be read. A short one lies here: to have that much from
// malloc() at an open, which makes it gather all the small memory that start-up gave back, takes longer than
// reading it.
class Content {
 public:
  explicit Content(const char* file);
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  char* data() { return long_.empty() ? short_.data() : long_.data(); }
  std::string_view text() { return {data(), size_}; }

 private:
  std::array<char, 4608> short_;
  std::string long_;
  std::size_t size_ = 0;
};

std::string names_in(const char* folder);

std::int64_t wall_clock_ns();

// Cached decisions of requests that nobody makes any more would stay for ever; those that are made come
// again.
void make_room(const std::filesystem::path& folder);

}  // namespace enginehost::open
