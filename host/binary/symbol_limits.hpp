// Limits on the text that a file's names may take. Names may overlap in a damaged or hostile file, so a small
// file could claim more text than memory holds. The file's size already limits the number of symbols, because
// each has its own entry.
#pragma once
#include <cstddef>
#include <cstdint>

namespace enginehost::binary {

constexpr std::uint64_t symbol_limit = 8u << 20;
constexpr std::size_t symbol_name_limit = std::size_t{256} << 20;
// For all libraries, paths and versions that a file names together.
constexpr std::size_t file_name_limit = std::size_t{4} << 20;

class NameBudget {
 public:
  explicit NameBudget(std::size_t limit = symbol_name_limit) : left_(limit) {}
  // Returns false if this name would exceed the limit; the table then ends here.
  bool take(std::size_t length) {
    if (length > left_) {
      spent_ = true;
      return false;
    }
    left_ -= length;
    return true;
  }
  // Returns whether a name was refused.
  bool spent() const { return spent_; }

 private:
  std::size_t left_;
  bool spent_ = false;
};

}  // namespace enginehost::binary
