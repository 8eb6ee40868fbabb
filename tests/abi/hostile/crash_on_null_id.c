#define HOSTILE_NULL_ID abort();
#include "hostile.h"
