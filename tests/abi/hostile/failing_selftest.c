#define HOSTILE_SELFTEST                                                          \
  if (level > 1) {                                                                \
    call->detail(call, "found", "6");                                             \
    return hostile_fail(call, ENGINE_INTERNAL, "The graph gave a wrong answer."); \
  }
#include "hostile.h"
