/* A model whose run() assumes that its required input is always there. */
#define HOSTILE_QUERY \
  if (!strcmp(id, ENGINE_MODEL_V1)) return &models;
#include <enginehost/engine_plugin.h>

static engine_status model_load(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                                engine_call* call);
static void model_unload(engine_model* model);
static const engine_model_info* model_info(engine_model* model);
static engine_status model_run(engine_model* model, const engine_run* what, engine_results* results,
                               engine_call* call);
static const engine_model_v1 models = {model_load, model_unload, model_info, model_run};

#include "hostile.h"

struct engine_model {
  int runs;
};

static engine_status model_load(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                                engine_call* call) {
  (void)engine;
  *out = NULL;
  if (strcmp(desc->format, "any") != 0) return hostile_fail(call, ENGINE_UNSUPPORTED, "Only \"any\".");
  *out = calloc(1, sizeof **out);
  return *out ? ENGINE_OK : hostile_fail(call, ENGINE_NO_MEMORY, "No memory.");
}
static void model_unload(engine_model* model) { free(model); }
static const engine_model_info* model_info(engine_model* model) {
  static const engine_port input = {"x", NULL, NULL, -1, {0, 0, 1}, 0, 0};
  static const engine_function function = {"", &input, NULL, 1, 0};
  static const engine_model_info info = {sizeof info, 0, &function, 1, NULL, 0};
  (void)model;
  return &info;
}
static engine_status model_run(engine_model* model, const engine_run* what, engine_results* results,
                               engine_call* call) {
  (void)results, (void)call;
  if (what->input_count == 0) abort(); /* as reading what->inputs[0] would, on every machine */
  model->runs++;
  return ENGINE_OK;
}
