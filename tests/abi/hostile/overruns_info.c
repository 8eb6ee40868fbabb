/* Clears everything up to `size`, as if all of it were its own. */
#define HOSTILE_INFO \
  if (out->size > sizeof *out) memset((char*)out + sizeof *out, 0, out->size - sizeof *out);
#include "hostile.h"
