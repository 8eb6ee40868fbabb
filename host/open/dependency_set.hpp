// Gathers what a early decision rests on, so that as few looks as possible tell that all of it stays.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/platform/machine_key.hpp"

namespace enginehost::open {

// Each file is told once, by the strictest line that was asked for. What is not there is vouched for by the
// nearest folder above it, where that folder's time tells of its names. Lines: witness.hpp. Use from one
// thread.
class DependencySet {
 public:
  // Files must have been at rest before then.
  explicit DependencySet(std::int64_t began_ns) : began_ns_(began_ns) {}

  void add_rights(const std::string& file);
  void add_writable(const std::string& folder);
  void add_runnable(const std::string& file);
  void add_there(const std::string& file);
  void add_empty(const std::string& folder);
  void add(const platform::MachineInput& look);
  // Lines of a cached decision, which are taken as they stand.
  void add_lines(std::string_view lines);
  // Files that are told by other means: a stamp of theirs is left out.
  void leave_out(std::vector<std::string> files) { stamped_elsewhere_ = std::move(files); }

  // All of it; nothing where a file was not at rest, has two stamps, or cannot be told in a line.
  std::optional<std::string> text() const;

 private:
  struct Line {
    std::string name, value, path;
  };
  struct CoveringDirectory {
    std::string folder;
    std::string value;        // of a line "folder"
    std::string same_moment;  // "DEVICE INODE SIZE TIME ", as in its stamp
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
