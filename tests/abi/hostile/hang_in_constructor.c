#include <unistd.h>

#include "hostile.h"

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}
