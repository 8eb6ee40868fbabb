/* Leaves the thread with tiny numbers flushed to zero, as a library linked with -ffast-math does. */
#ifdef __x86_64__
#include <xmmintrin.h>
#define HOSTILE_CREATE _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
#include "hostile.h"
