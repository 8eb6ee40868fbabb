#include <unistd.h>
#define HOSTILE_SELFTEST \
  for (;;) pause();
#include "hostile.h"
