// What the crash handler asks of its system. All but find_stack runs inside a signal handler: no allocation,
// no locks. Only for posix/crash_report.cpp.
#pragma once
#include <signal.h>
#include <sys/ucontext.h>

#include <cstdint>

namespace enginehost::helper {

std::uintptr_t instruction_pointer(const ucontext_t* context);
std::uintptr_t stack_pointer(const ucontext_t* context);

// By the name of a library's file: the C and C++ libraries, the loader, this program; "" too.
bool is_systems_own(const char* name);
bool is_loader(const char* name);

// Four bytes at the faulting instruction as hexadecimal digits, read through the kernel so that an unmapped
// address is no second fault; empty when they cannot be read.
void read_instruction(std::uintptr_t address, char (&text)[9]);

// How many threads the process has, from the kernel: 0 where it does not say.
int count_threads();
bool is_first_thread();

// Where the calling thread's stack, the first one's, lies.
void find_stack(std::uintptr_t& low, std::uintptr_t& high);

}  // namespace enginehost::helper
