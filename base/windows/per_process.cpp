#include "base/per_process.hpp"

namespace enginehost {

// Windows has no fork.
void hold_over_forks(std::mutex&) {}

unsigned generation_of_process() { return 0; }

}  // namespace enginehost
