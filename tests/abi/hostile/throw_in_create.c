/* Compiled with -fexceptions, so that the exception passes through this C frame into the host. */
void hostile_throw(void);
#define HOSTILE_CREATE hostile_throw();
#include "hostile.h"
