// What a system tells a process of itself. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>

namespace enginehost {

// From the system's generator of random bytes; waits until there are some.
void fill_with_random_bytes(unsigned char* into, std::size_t size);

}  // namespace enginehost
