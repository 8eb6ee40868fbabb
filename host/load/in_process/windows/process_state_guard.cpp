#include "host/load/in_process/process_state_guard.hpp"

namespace enginehost::load {

// Windows has no signal masks and no fork, and each C runtime has descriptors of its own.
struct ProcessStateGuard::OfSystem {};

ProcessStateGuard::ProcessStateGuard(Streams) {}
ProcessStateGuard::~ProcessStateGuard() = default;
void ProcessStateGuard::restore_system(std::vector<Diagnosis>&) {}

}  // namespace enginehost::load
