#define HOSTILE_SIZE 48
#include "hostile.h"
