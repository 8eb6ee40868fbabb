#include "host/load/helper/limits.hpp"

namespace enginehost::helper {

void set_limits(std::uint64_t) {}

MemoryUse memory_use() { return {}; }

}  // namespace enginehost::helper
