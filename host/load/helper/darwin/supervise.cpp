#include "host/load/helper/supervise.hpp"

namespace enginehost::helper {

// macOS lets no process adopt what its descendants leave behind.
void supervise() {}

}  // namespace enginehost::helper
