// Parts of the probe's own process that differ between Linux and macOS.
#pragma once
#include <signal.h>
#include <sys/ucontext.h>
#include <cstdint>

namespace enginehost::helper {

// The part of prepare_process() that differs between POSIX systems. Only for posix/this_process.cpp.

// From now on the process is killed when its parent dies.
void end_with_parent();

// System-specific facts for the crash handler. All but find_stack run inside a signal handler: no allocation,
// no locks. Only for posix/crash_report.cpp.

std::uintptr_t instruction_pointer(const ucontext_t* context);
std::uintptr_t stack_pointer(const ucontext_t* context);

// True by the file name of the library: the C and C++ libraries, the loader, this program; also for "".
bool is_systems_own(const char* name);
bool is_loader(const char* name);

// Reads four bytes at the faulting instruction as hexadecimal digits. It reads through the kernel, so that an
// unmapped address causes no second fault. Empty when they cannot be read.
void read_instruction(std::uintptr_t address, char (&text)[9]);

// Returns the number of threads of the process as the kernel reports it; 0 when unknown.
int count_threads();
bool is_first_thread();

// Finds the bounds of the stack of the calling thread, which must be the first one.
void find_stack(std::uintptr_t& low, std::uintptr_t& high);

}  // namespace enginehost::helper
