/* Gives the calling thread its own locale, which setlocale() does not report. */
#define _GNU_SOURCE
#include <locale.h>
#define HOSTILE_SELFTEST uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
#include "hostile.h"
