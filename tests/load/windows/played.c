/* The plugin of tests/faults with one fault. The build defines PLAY_ and the name of the fault. */
#if defined(PLAY_illegal_instruction)
#define AT_SELFTEST __asm__("ud2")
#elif defined(PLAY_illegal_at_load)
#define AT_LOAD __asm__("ud2")
#elif defined(PLAY_crash_at_load)
#define AT_LOAD *(volatile int*)8 = 1
#elif defined(PLAY_crash_at_selftest)
#define AT_SELFTEST *(volatile int*)8 = 1
#elif defined(PLAY_crash_at_destroy)
#define AT_DESTROY *(volatile int*)8 = 1
#elif defined(PLAY_abort)
#define AT_CREATE fputs("no license", stderr), fflush(stderr), abort()
#elif defined(PLAY_exit_at_load)
#define AT_LOAD exit(0)
#elif defined(PLAY_hang_at_load)
#define AT_LOAD \
  while (1) sleep(1)
#elif defined(PLAY_hang_at_unload)
#define AT_DESTROY \
  while (1) sleep(1)
#elif defined(PLAY_overflow)
#include <malloc.h>
#define AT_SELFTEST return selftest(engine, level + 1, device, call) + *(volatile char*)alloca(4096)
#elif defined(PLAY_other_abi)
#define MAJOR 9
#elif defined(PLAY_reports)
#define AT_CREATE \
  return call->fail(call, ENGINE_UNAVAILABLE, "cuda", 35, "CUDA driver version is insufficient")
#elif defined(PLAY_changes)
#define AT_LOAD chdir("C:\\windows"), __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040)
#elif defined(PLAY_prints)
#define AT_LOAD puts("forged"), fflush(stdout)
#elif defined(PLAY_forges)
#define AT_LOAD write(4, "{\"ok\":\"x\"}\n", 11), _exit(0)
#elif defined(PLAY_delayed)
#include <windows.h>
#define AT_SELFTEST RaiseException(0xC06D007E, 0, 0, NULL)
#elif !defined(PLAY_well)
#error "no such fault"
#endif

#include "tests/faults/plugin.c"
