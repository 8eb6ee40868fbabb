// What a system tells of processes, and of itself as what they run on. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace enginehost {

// From the system's generator of random bytes; waits until there are some. False where the system gives none:
// what `into` holds then is anything.
[[nodiscard]] bool fill_with_random_bytes(unsigned char* into, std::size_t size);

// One text from start to start of the machine, another after the next; empty where the system tells none. On
// Linux the kernel's boot_id.
std::string boot_id();

// When the machine was started, by its clocks as they are now: nanoseconds since 1970. Until somebody sets
// the time, two answers of one start differ by what passes between the readings of two clocks, and those of
// two starts or machines by the time between them. Takes no system call on Linux; 0 where no clock counts
// from the start (Windows, as far as it is used here).
std::int64_t boot_moment_ns();

// When this process began, in units of the system's own, to tell two that had one number apart; empty when
// there is none.
std::string start_time_of_process(std::int64_t process);

// Who this process acts as: "1000" where users are numbers, a name on Windows.
std::string effective_user();

// The environment variable that names the user's home folder: "HOME", on Windows "USERPROFILE".
const char* home_variable();

// The running program's file; empty when the system does not tell it.
std::string executable_path();

}  // namespace enginehost
