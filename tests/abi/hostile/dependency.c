#include "hostile.h"
