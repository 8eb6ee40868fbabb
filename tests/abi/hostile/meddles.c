/* Changes what belongs to the process: the environment and a signal handler. */
#include <signal.h>
#include <stdlib.h>
#define HOSTILE_CREATE                     \
  setenv("HOSTILE_PLUGIN", "was here", 1); \
  signal(SIGUSR1, SIG_IGN);
#include "hostile.h"
