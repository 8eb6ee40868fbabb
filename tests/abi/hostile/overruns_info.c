/* Believes that everything up to `size` is its own to clear. */
#define HOSTILE_INFO \
  if (out->size > sizeof *out) memset((char*)out + sizeof *out, 0, out->size - sizeof *out);
#include "hostile.h"
