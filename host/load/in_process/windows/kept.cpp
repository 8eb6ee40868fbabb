#include "host/load/in_process/kept.hpp"

namespace enginehost::load {

// There are no masks of signals here, no copies of a process, and each C runtime has descriptors of its own.
struct Kept::OfSystem {};

Kept::Kept(Streams) {}
Kept::~Kept() = default;
void Kept::put_back_of_system(std::vector<Diagnosis>&) {}

}  // namespace enginehost::load
