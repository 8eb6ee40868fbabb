#include "host/load/helper/supervise.hpp"

namespace enginehost::helper {

// The parent's job object ends everything that this process starts.
void supervise() {}

}  // namespace enginehost::helper
