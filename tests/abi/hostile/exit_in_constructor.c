#include "hostile.h"

__attribute__((constructor)) static void leave(void) { exit(0); }
