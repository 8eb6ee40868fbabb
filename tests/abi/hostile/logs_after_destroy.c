/* Keeps the host of one engine and calls it in the create() of the next, when that host may be gone. */
#include <stddef.h>
struct engine_host;
static const struct engine_host* hostile_host;
#define HOSTILE_CREATE                                                                             \
  if (hostile_host) hostile_host->log(hostile_host, ENGINE_LOG_WARNING, "late", "one more thing"); \
  hostile_host = host;
#include "hostile.h"
