/* Offers a table with one function missing. */
#define HOSTILE_QUERY                        \
  static const engine_model_v1 models = {0}; \
  if (!strcmp(id, ENGINE_MODEL_V1)) return &models;
#include "hostile.h"
