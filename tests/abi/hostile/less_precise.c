/* Makes long double as precise as float. */
#ifdef __x86_64__
#define HOSTILE_SELFTEST                      \
  unsigned short word;                        \
  __asm__ volatile("fnstcw %0" : "=m"(word)); \
  word = (unsigned short)(word & ~0x300);     \
  __asm__ volatile("fldcw %0" : : "m"(word));
#endif
#include "hostile.h"
