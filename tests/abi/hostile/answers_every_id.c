#define HOSTILE_QUERY \
  if (id[0] != 0 && strcmp(id, ENGINE_DEVICE_V1) != 0) return &hostile_selftest_table;
#include "hostile.h"
