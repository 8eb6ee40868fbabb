#define HOSTILE_NO_DESCRIPTOR
#include "hostile.h"
