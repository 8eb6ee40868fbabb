/* Three facts, and no list of them. */
#define HOSTILE_FACTS return *count = 3, NULL;
#include "hostile.h"
