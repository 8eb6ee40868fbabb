// Facts about processes and about the running system. Thread safety: any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

struct dl_phdr_info;

namespace enginehost {

// Fills the buffer from the system's random generator; waits until it is seeded. Returns false if the system has none;
// the content of `into` is then undefined.
[[nodiscard]] bool fill_with_random_bytes(unsigned char* into, std::size_t size);

// Returns a text that differs after each boot; empty if the system has none. On Linux the kernel's boot_id.
std::string boot_id();

// Returns when the machine booted, by its current clocks, in nanoseconds since 1970. Two answers within one boot differ
// by the time between two clock readings, until somebody sets the time. Answers of two boots or machines differ by the
// time between their boots. Takes no system call on Linux. Returns 0 on Windows, where no clock used here counts from
// the boot.
std::int64_t boot_moment_ns();

// Returns when a process began, in units of the system, to distinguish two processes with the same number. Empty if
// there is no such process.
std::string start_time_of_process(std::int64_t process);

// Returns whether this process has rights that its caller has not: set-user-ID, set-group-ID, file capabilities
// (AT_SECURE, getauxval(3)). Always false on Windows.
bool has_more_rights_than_its_caller();

// Returns the effective user: "1000" where users are numbers, a name on Windows.
std::string effective_user();

// Returns the variable that names the user's home folder: "HOME", on Windows "USERPROFILE".
const char* home_variable();

// Returns the running program's file; empty if the system does not report it.
std::string executable_path();

// Returns a loaded object's GNU build id as hexadecimal digits; "" if it has none. Reads memory, because the file may
// have been replaced since. On Linux only.
std::string mapped_build_id(const dl_phdr_info& object);

}  // namespace enginehost
