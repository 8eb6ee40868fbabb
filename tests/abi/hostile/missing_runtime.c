/* The good way to fail: what an adapter does when its runtime is missing. */
#define HOSTILE_CREATE                                            \
  call->detail(call, "missing_library", "libnosuchruntime.so.1"); \
  return hostile_fail(call, ENGINE_UNAVAILABLE, "libnosuchruntime.so.1 was not found below the root.");
#include "hostile.h"
