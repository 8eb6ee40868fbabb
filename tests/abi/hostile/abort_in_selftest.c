#define HOSTILE_SELFTEST abort();
#include "hostile.h"
