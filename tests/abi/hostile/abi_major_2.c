#define HOSTILE_ABI 2, 0
#include "hostile.h"
