#include "host/load/in_process/process_state_guard.hpp"

namespace enginehost::load {

// There are no masks of signals here, no copies of a process, and each C runtime has descriptors of its own.
struct ProcessStateGuard::OfSystem {};

ProcessStateGuard::ProcessStateGuard(Streams) {}
ProcessStateGuard::~ProcessStateGuard() = default;
void ProcessStateGuard::restore_system(std::vector<Diagnosis>&) {}

}  // namespace enginehost::load
