// Everything that an early decision depends on, reduced to as few checks as possible.
//
// Each file gets one line; the strictest requested check wins ("rights" over "stamp" over "identity" and
// "there"). Names that exist or are absent are covered by the nearest directory above them, if the times of
// that directory change with its names. One check of the directory then answers for all of them. The format
// of the lines is in dependency_stamp.hpp.
//
// Thread safety: one thread. Errors: text() returns nothing if the set cannot be relied on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/platform/machine_key.hpp"

namespace enginehost::open {

// Collects dependencies with the add functions; text() returns their lines.
class DependencySet {
 public:
  // `began_ns`: files that changed shortly before this time or later are not settled and make the set
  // unusable.
  explicit DependencySet(std::int64_t began_ns) : began_ns_(began_ns) {}

  void add_rights(const std::string& file);
  void add_writable(const std::string& folder);
  void add_runnable(const std::string& file);
  void add_there(const std::string& file);
  void add_empty(const std::string& folder);
  void add(const platform::MachineInput& input);
  // Adds the stamp lines of a cached decision.
  void add_lines(std::string_view lines);
  // Leaves out the stamps of these files, because the key text identifies them.
  void leave_out(std::vector<std::string> files) { stamped_elsewhere_ = std::move(files); }

  // Returns all lines. Returns nothing if a file was not at rest, has two different stamps, or has a line
  // break in its name.
  std::optional<std::string> text() const;

 private:
  struct Line {
    std::string name, value, path;
  };
  struct CoveringDirectory {
    std::string folder;
    std::string value;        // the value of a "folder" line
    std::string same_moment;  // "DEVICE INODE SIZE TIME ", as in the directory's stamp
  };
  void add(std::string name, std::string value, const std::string& path);
  void add_stamp(const std::string& file, bool with_rights);
  const Line* find(std::string_view name, const std::string& path) const;
  bool is_stamped_elsewhere(const Line& line) const;
  std::optional<CoveringDirectory> covering_directory_of(const Line& line) const;

  std::int64_t began_ns_;
  bool usable_ = true;
  std::vector<std::string> stamped_elsewhere_;
  std::vector<Line> lines_;
};

}  // namespace enginehost::open
