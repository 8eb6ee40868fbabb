// The list of differences from the real loader, with reasons.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace enginehost::test {

// A file of lines "pattern <tab> what <tab> reason". A line counts as vanished when files of its pattern were
// compared and none differed; a line whose files this machine lacks does not count.
class KnownDifferences {
 public:
  explicit KnownDifferences(const std::filesystem::path& file) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.front() == '#') continue;
      const std::vector<std::string> fields = split(line, '\t');
      if (fields.size() != 3 || fields[2].empty())
        unexplained_.push_back("not three fields: " + line);
      else
        lines_.push_back({fields[0], fields[1], line});
    }
  }
  void compare(const std::string& file, const std::string& what, bool same, const std::string& difference) {
    bool listed = false;
    for (Line& line : lines_) {
      if (line.what != what || !matches_pattern(file, line.pattern)) continue;
      line.compared = true;
      line.differed |= !same;
      listed = true;
    }
    if (same) return;
    if (listed)
      ++explained_;
    else
      unexplained_.push_back(what + " of " + file + ": " + difference);
  }
  std::size_t explained() const { return explained_; }
  const std::vector<std::string>& unexplained() const { return unexplained_; }
  // `every_file_is_here`: a line whose files this machine lacks counts, too.
  std::vector<std::string> vanished(bool every_file_is_here = false) const {
    std::vector<std::string> gone;
    for (const Line& line : lines_)
      if ((line.compared || every_file_is_here) && !line.differed) gone.push_back(line.text);
    return gone;
  }

 private:
  struct Line {
    std::string pattern, what, text;
    bool compared = false, differed = false;
  };
  std::vector<Line> lines_;
  std::vector<std::string> unexplained_;
  std::size_t explained_ = 0;
};

}  // namespace enginehost::test
