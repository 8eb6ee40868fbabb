/* Prints when the process ends. */
#include <stdio.h>
__attribute__((destructor)) static void hostile_say(void) { printf("good bye\n"); }
#define HOSTILE_FLAGS 0
#include "hostile.h"
