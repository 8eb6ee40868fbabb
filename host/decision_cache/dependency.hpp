// The things that a cached decision depends on, and their lines in the file of the decision.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/platform/machine_key.hpp"

namespace enginehost::open {

struct Dependency {
  enum class Kind {
    stamp,     // the file is unchanged: device, inode, size, mtime
    rights,    // and so are its owner and its mode: device, inode, size, mtime, ctime
    content,   // the file has the same content: checksum
    names,     // the folder holds the same names: checksum
    there,     // the path exists
    absent,    // the path does not exist
    empty,     // the folder holds nothing
    writable,  // this process may create files in the folder
    runnable,  // this process may execute the file
    noexec,    // the folder is mounted without execution
    limits,    // history::process_limits() of this process: checksum
    until,     // the time is earlier: seconds since 1970
    made,      // the time is not earlier: seconds since 1970
    boot       // boot_moment_ns() of base/process.hpp
  };
  using Stamp = std::array<std::uint64_t, 5>;  // as many numbers as the kind has, the others 0

  Kind kind = Kind::absent;
  Stamp stamp{};
  std::string path;

  // Returns true if it holds now. Makes at most a few system calls. `now`: seconds since 1970.
  bool holds(std::int64_t now) const;

  // Returns the line: the name of the kind, the numbers of its stamp, the path. The path has no line break.
  std::string line() const;
  // Reads the first line of the text and removes it from there. Returns false if it is no such line.
  bool take(std::string_view& text);
};

// Everything that one decision depends on; text() returns its lines.
//
// A file that changes within the clock resolution of its file system can keep its time. A set is therefore
// unusable if a stamped file changed less than half a second before it began, or less than three seconds on a
// file system that counts whole seconds. A file that changes later has two lines, of which one never holds.
//
// Thread safety: one thread. Errors: text() returns nothing if the set cannot be relied on.
class DependencySet {
 public:
  // `began_ns`: files that changed shortly before this time or later are not settled. `identified`: files
  // whose stamps are left out, because the key of the decision identifies them.
  DependencySet(std::int64_t began_ns, std::vector<std::string> identified)
      : began_ns_(began_ns), identified_(std::move(identified)) {}

  void add(const Dependency& dependency);
  // Adds the path as it is now; as `absent` if it does not exist.
  void add(Dependency::Kind kind, const std::string& path);
  void add(const platform::MachineInput& input);

  // Returns all lines. Returns nothing if a file was not at rest, or has a line break in its name.
  std::optional<std::string> text() const;

  // Returns true if every line of such a text holds. `now`: seconds since 1970.
  static bool holds(std::string_view text, std::int64_t now);

 private:
  std::int64_t began_ns_;
  std::vector<std::string> identified_;
  bool usable_ = true;
  std::set<std::string> lines_;
};

// Returns true also for a folder that does not exist; false for one that cannot be read.
bool is_empty_folder(const std::string& folder);

// Detects damage and finds a decision by its key. No protection against forgery.
std::array<std::uint64_t, 2> checksum(std::string_view text);
std::string checksum_text(std::string_view text);  // 32 hexadecimal digits

std::int64_t wall_clock_ns();

}  // namespace enginehost::open
