/* Closes standard error in the self-test. */
#include <unistd.h>
#define HOSTILE_SELFTEST close(2);
#include "hostile.h"
