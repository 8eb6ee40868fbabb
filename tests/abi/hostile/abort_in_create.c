#define HOSTILE_CREATE abort();
#include "hostile.h"
