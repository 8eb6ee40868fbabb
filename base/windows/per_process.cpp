#include "base/per_process.hpp"

namespace enginehost {

// There is no fork.
unsigned generation_of_process() { return 0; }

}  // namespace enginehost
