#include "base/remove_tree.hpp"

namespace enginehost {

void remove_tree(const std::filesystem::path& folder, std::error_code& error) {
  std::filesystem::remove_all(folder, error);
}

}  // namespace enginehost
