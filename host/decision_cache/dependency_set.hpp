// Everything that a cached decision depends on, reduced to as few checks as possible.
//
// Each file is checked once; the strictest requested check wins ("rights" over "stamp" over "identity" and
// "there"). Names that exist or are absent are covered by the nearest directory above them, if the times of
// that directory change with its names. One check of the directory then answers for all of them.
//
// A file that changes within the clock resolution of its file system can keep its time. A set is therefore
// unusable if a stamped file changed less than half a second before it began, or less than three seconds on a
// file system that counts whole seconds.
//
// Thread safety: one thread. Errors: text() returns nothing if the set cannot be relied on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/decision_cache/dependency.hpp"
#include "host/platform/machine_key.hpp"

namespace enginehost::open {

// Collects dependencies with the add functions; text() returns their lines.
class DependencySet {
 public:
  // `began_ns`: files that changed shortly before this time or later are not settled.
  explicit DependencySet(std::int64_t began_ns) : began_ns_(began_ns) {}

  void add(Dependency dependency);
  // Adds the path as it is now.
  void add(Dependency::Kind kind, const std::string& path);
  void add(const platform::MachineInput& input);
  // Leaves out the stamps of these files, because the key of the decision identifies them.
  void leave_out(std::vector<std::string> files) { stamped_elsewhere_ = std::move(files); }

  // Returns all lines. Returns nothing if a file was not at rest, has two different stamps, or has a line
  // break in its name.
  std::optional<std::string> text() const;

  // Returns true if every line of such a text holds. `now`: seconds since 1970.
  static bool holds(std::string_view text, std::int64_t now);

 private:
  const Dependency* find(Dependency::Kind kind, const std::string& path) const;
  const Dependency* strictest_stamp(const std::string& path) const;
  bool is_checked_elsewhere(const Dependency& dependency) const;

  std::int64_t began_ns_;
  bool usable_ = true;
  std::vector<std::string> stamped_elsewhere_;
  std::vector<Dependency> all_;
};

}  // namespace enginehost::open
