#define HOSTILE_MAGIC "ENGPLUX"
#include "hostile.h"
