/* Closes every file of the process, as a daemon would. */
#include <unistd.h>
#define HOSTILE_CREATE \
  for (int number = 0; number < 1000; number++) close(number);
#include "hostile.h"
