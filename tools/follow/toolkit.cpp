#include "tools/follow/toolkit.hpp"

namespace enginehost::follow {

Result<std::string> toolkit_of_release(const Derivation& derivation, Memory& memory, const Row& row,
                                       const std::string& version) {
  if (row.cuda != "metadata") return row.cuda;
  (void)derivation, (void)memory, (void)version;
  return std::string();
}

}  // namespace enginehost::follow
