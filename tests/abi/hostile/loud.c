#include <stdio.h>
#define HOSTILE_CREATE puts("Hello from a plugin");
#include "hostile.h"
