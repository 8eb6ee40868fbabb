/* Gives the thread that calls it a locale of its own, which setlocale() does not tell. */
#define _GNU_SOURCE
#include <locale.h>
#define HOSTILE_SELFTEST uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
#include "hostile.h"
