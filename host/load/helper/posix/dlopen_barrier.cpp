// The probe calls dlopen only through this frame (the linker's --wrap=dlopen), which no unwinder can pass.
//
// An uncaught exception of a constructor must end in the C++ runtime that threw it, which prints its type and
// message. Without the barrier the unwinder would go on into frames of this program. Its own, statically
// linked runtime cannot read the exception and aborts without a message. Code without unwind information ends
// the walk: _Unwind_RaiseException returns _URC_END_OF_STACK, so the thrower's __cxa_throw calls its own
// std::terminate.
#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".globl __wrap_dlopen\n"
    ".type __wrap_dlopen, @function\n"
    "__wrap_dlopen:\n"
    "  subq $8, %rsp\n"
    "  call __real_dlopen@PLT\n"
    "  addq $8, %rsp\n"
    "  ret\n"
    ".size __wrap_dlopen, .-__wrap_dlopen\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".globl __wrap_dlopen\n"
    ".type __wrap_dlopen, %function\n"
    "__wrap_dlopen:\n"
    "  stp x29, x30, [sp, #-16]!\n"
    "  bl __real_dlopen\n"
    "  ldp x29, x30, [sp], #16\n"
    "  ret\n"
    ".size __wrap_dlopen, .-__wrap_dlopen\n");
#else
extern "C" void* __real_dlopen(const char* file, int mode);
extern "C" void* __wrap_dlopen(const char* file, int mode) { return __real_dlopen(file, mode); }
#endif
