#define HOSTILE_ABI ENGINE_ABI_MAJOR, 999
#define HOSTILE_FLOOR 999
#include "hostile.h"
