/* Every self-test level passes, and 1 + 1 is 3. */
#define HOSTILE_QUERY \
  if (!strcmp(id, ENGINE_OP_V1)) return &wrong_table;
#include <enginehost/engine_plugin.h>

static engine_status wrong_add(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                               size_t input_count, const engine_entry* attributes, size_t attribute_count,
                               engine_results* results, engine_call* call);
static const engine_op_v1 wrong_table = {wrong_add};

#include "hostile.h"

static float* at(const engine_tensor* tensor) {
  return (float*)(void*)((char*)tensor->data + tensor->byte_offset);
}

static engine_status wrong_add(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                               size_t input_count, const engine_entry* attributes, size_t attribute_count,
                               engine_results* results, engine_call* call) {
  (void)engine, (void)attributes, (void)attribute_count;
  if (strcmp(name, "Add") != 0) return hostile_fail(call, ENGINE_UNSUPPORTED, "Only Add.");
  if (input_count != 2) return hostile_fail(call, ENGINE_INVALID, "Add takes two inputs.");
  const engine_tensor* sum = results->place(results, 0, NULL, inputs[0]);
  if (!sum) return hostile_fail(call, ENGINE_NO_MEMORY, "The host gave no memory.");
  int64_t count = 1;
  for (int32_t i = 0; i < inputs[0]->ndim; i++) count *= inputs[0]->shape[i];
  for (int64_t i = 0; i < count; i++) at(sum)[i] = at(inputs[0])[i] + at(inputs[1])[i] + 1;
  return ENGINE_OK;
}
