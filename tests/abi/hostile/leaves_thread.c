/* Says that it may be unloaded, and leaves a thread running whose code is in this library. */
#include <pthread.h>
#include <unistd.h>

static void* sleep_on(void* nothing) {
  for (;;) pause();
  return nothing;
}
#define HOSTILE_CREATE \
  pthread_t thread;    \
  if (!pthread_create(&thread, NULL, sleep_on, NULL)) pthread_detach(thread);
#include "hostile.h"
