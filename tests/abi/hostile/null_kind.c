/* A device without a kind. */
#define HOSTILE_KIND NULL
#include "hostile.h"
