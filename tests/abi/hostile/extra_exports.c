#include "hostile.h"

ENGINE_EXPORT int hostile_helper(void);
int hostile_helper(void) { return 1; }
