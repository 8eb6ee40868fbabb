/* A count of three facts, and a null list. */
#define HOSTILE_FACTS return *count = 3, NULL;
#include "hostile.h"
