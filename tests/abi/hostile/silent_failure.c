/* Fails without a message. */
#define HOSTILE_CREATE \
  if (call) return ENGINE_INTERNAL;
#include "hostile.h"
