// One thing that a cached decision depends on, and its line in the file of the decision.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace enginehost::open {

struct Dependency {
  enum class Kind {
    stamp,     // the file is unchanged: device, inode, size, mtime
    rights,    // and so are its owner and its mode: device, inode, size, mtime, ctime
    identity,  // the path leads to the same file: device, inode
    content,   // the file has the same content: checksum
    names,     // the folder holds the same names: checksum
    there,     // the path exists
    absent,    // the path does not exist
    empty,     // the folder holds nothing
    still,     // the same, but the folder is only read if it changed: device, inode, ctime
    folder,    // covers the dependencies below it that follow: device, inode, ctime
    writable,  // this process may create files in the folder
    runnable,  // this process may execute the file
    noexec,    // the folder is mounted without execution
    limits,    // history::process_limits() of this process: checksum
    until,     // the time is earlier: seconds since 1970
    made,      // the time is not earlier: seconds since 1970
    boot       // boot_moment_ns() of base/process.hpp
  };
  // As many numbers as the kind has, the others 0. "folder" and "still" compare ctime, because nobody can set
  // it back.
  using Stamp = std::array<std::uint64_t, 5>;

  Kind kind = Kind::absent;
  Stamp stamp{};
  std::string path;
  // Checked only if the directory before it in the file has changed: a "folder", "stamp" or "rights".
  bool covered = false;

  // Returns true if it holds now. Makes at most a few system calls. `now`: seconds since 1970.
  bool holds(std::int64_t now) const;

  // Adds the line: the name of the kind, the numbers of its stamp, the path. The path has no line break.
  void put(std::string& text) const;
  // Reads the first line of the text and removes it from there. Returns false if it is no such line.
  bool take(std::string_view& text);
};

// Returns the dependency on the path as it is now; the kind is `absent` if it does not exist.
Dependency dependency_on(Dependency::Kind kind, const std::string& path);

// Returns true if the time is so long before the moment that any later change has another time.
bool is_settled(std::int64_t time_ns, std::int64_t moment_ns);
// Returns true if nothing happened to the file shortly before the moment or since. Checks mtime and ctime;
// only ctime shows a rename.
bool is_at_rest(const std::string& path, std::int64_t moment_ns);
// Returns true also for a folder that does not exist; false for one that cannot be read.
bool is_empty_folder(const std::string& folder);

// Detects damage and finds a decision by its key. No protection against forgery.
std::array<std::uint64_t, 2> checksum(std::string_view text);
std::string checksum_text(std::string_view text);  // 32 hexadecimal digits

std::int64_t wall_clock_ns();

}  // namespace enginehost::open
