#include <unistd.h>
#define HOSTILE_CREATE \
  for (;;) pause();
#include "hostile.h"
