#include "base/per_process.hpp"

namespace enginehost {

// Windows has no fork.
unsigned generation_of_process() { return 0; }

}  // namespace enginehost
