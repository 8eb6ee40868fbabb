// What the names of a file may cost. They may overlap in a damaged or hostile file, so that a small file
// could claim more text than memory holds. (The number of symbols is bounded by the file's size: each has an
// entry of its own.)
#pragma once
#include <cstddef>
#include <cstdint>

namespace enginehost::binary {

constexpr std::uint64_t symbol_limit = 8u << 20;
constexpr std::size_t symbol_name_limit = std::size_t{256} << 20;
// The libraries, paths and versions that a file names, all together.
constexpr std::size_t file_name_limit = std::size_t{4} << 20;

class NameBudget {
 public:
  explicit NameBudget(std::size_t limit = symbol_name_limit) : left_(limit) {}
  // False: this name would go beyond the limit, and the table ends here.
  bool take(std::size_t length) {
    if (length > left_) {
      spent_ = true;
      return false;
    }
    left_ -= length;
    return true;
  }
  // Whether a name was refused.
  bool spent() const { return spent_; }

 private:
  std::size_t left_;
  bool spent_ = false;
};

}  // namespace enginehost::binary
