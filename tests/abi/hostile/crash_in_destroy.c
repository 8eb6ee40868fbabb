#define HOSTILE_DESTROY abort();
#include "hostile.h"
