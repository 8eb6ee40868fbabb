#include "cache/stage.hpp"

#include <utility>

#include "base/remove_tree.hpp"

namespace enginehost::cache {

Stage::Stage(Stage&& other) noexcept
    : lock_(std::move(other.lock_)),
      publishing_(std::move(other.publishing_)),
      folder_(std::exchange(other.folder_, {})) {}

Stage& Stage::operator=(Stage&& other) noexcept {
  if (this != &other) {
    remove();
    lock_ = std::move(other.lock_);
    publishing_ = std::move(other.publishing_);
    folder_ = std::exchange(other.folder_, {});
  }
  return *this;
}

Stage::~Stage() { remove(); }

// Leftovers are removed by the next owner of the key.
void Stage::remove() {
  std::error_code ignored;
  if (!folder_.empty()) remove_tree(folder_, ignored);
  folder_.clear();
}

}  // namespace enginehost::cache
