/* What an adapter does when its runtime is not there: the good way to fail. */
#define HOSTILE_CREATE                                            \
  call->detail(call, "missing_library", "libnosuchruntime.so.1"); \
  return hostile_fail(call, ENGINE_UNAVAILABLE, "libnosuchruntime.so.1 was not found below the root.");
#include "hostile.h"
