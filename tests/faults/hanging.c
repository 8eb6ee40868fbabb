/* A library that never finishes loading, for plugins that are compiled together with it. */
#include <unistd.h>

__attribute__((constructor)) static void begin(void) {
  for (;;) sleep(1);
}
