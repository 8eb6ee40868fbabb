#include <signal.h>

#include "hostile.h"

__attribute__((constructor)) static void crash(void) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}
