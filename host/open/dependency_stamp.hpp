// The lines that say what a cached decision or an early decision depends on.
//
// Lines about a file or folder:
//   stamp DEVICE INODE SIZE TIME PATH           is unchanged
//   rights DEVICE INODE SIZE TIME CHANGED PATH  is unchanged, with its owner and its mode
//   identity DEVICE INODE PATH                  is the same file
//   content CHECKSUM PATH                       has the same content
//   names CHECKSUM PATH                         is a folder with the same names
//   there PATH                                  exists
//   absent PATH                                 does not exist
//   empty FOLDER                                is empty
//   still DEVICE INODE CHANGED FOLDER           is empty; only looked into if it changed
//   writable FOLDER, runnable FILE              this process has that right
//   noexec FOLDER                               is mounted without execution
//
// A covering directory is a line "folder DEVICE INODE CHANGED PATH", or the directory's "stamp" or "rights"
// line. The lines "if-there PATH" and "if-absent PATH" that follow it are checked only if it changed.
// "folder" and "still" compare ctime, which nobody can set back.
//
// Other lines: "limits TEXT" (history::process_limits()), "until SECONDS", "made SECONDS", and "boot
// NANOSECONDS " (boot_moment_ns() of base/process.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace enginehost::open {

// Compares lines with the machine, in the order of the file. Use from one thread.
class DependencyStamps {
 public:
  explicit DependencyStamps(std::int64_t now) : now_(now) {}

  // Returns true if the line still holds; false if it does not, or is no such line. Makes at most a few
  // system calls. `value` is the text after the name; the byte after it must be zero.
  bool hold(std::string_view name, std::string_view value);

 private:
  enum class Of { identity, stamp, change, rights };
  static bool file_stayed(Of of, const char* value);

  std::int64_t now_;
  bool folder_stayed_ = false;
};

bool is_dependency_stamp(std::string_view name);

// Reads the value of a "stamp" line, which must end with a zero byte. Leaves the path in `value`.
FileStamp stamp_in(std::string_view& value);

// Returns the line of a file as it is now: "stamp" or "absent". `with_rights`: "rights" instead of "stamp".
std::string stamp_line(const std::string& path, bool with_rights = false);

// Returns the line of the current limits of this process.
std::string limits_line();

// Returns true if the time is so long before the moment that any later change has another time.
bool is_settled(std::int64_t time_ns, std::int64_t moment_ns);

// Returns true if nothing happened to the file shortly before the moment or since. Checks mtime and ctime;
// only ctime shows a rename.
bool is_at_rest(const std::string& path, std::int64_t moment_ns);
// Returns true also for a folder that does not exist; false for one that cannot be read.
bool is_empty_folder(const char* folder);

// Returns 32 hexadecimal digits. Used by "content" and "names" lines, and for the file names of early
// decisions. No protection against forgery.
std::string checksum(std::string_view text);

// The content of a file; empty if it cannot be read. A short file stays inside the object, because malloc()
// of that size takes longer during an open than reading the file.
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

// Removes all files of the folder if it holds 100 or more. Decisions whose requests nobody repeats would
// otherwise stay forever; the others are stored again.
void make_room(const std::filesystem::path& folder);

}  // namespace enginehost::open
