/* A plugin that does everything right, in the shortest way. Each file of this folder breaks one rule: it
 * defines one of these macros before it includes this file.
 *
 * Statements at the beginning of a function: HOSTILE_CREATE, HOSTILE_DESTROY, HOSTILE_SELFTEST, HOSTILE_INFO,
 * HOSTILE_FACTS, and HOSTILE_QUERY (only for an id; HOSTILE_NULL_ID is what query() does without one).
 *
 * The kind of its device: HOSTILE_KIND. Fields of the descriptor: HOSTILE_MAGIC, HOSTILE_SIZE, HOSTILE_ABI,
 * HOSTILE_FLOOR, HOSTILE_FLAGS. HOSTILE_NO_DESCRIPTOR leaves the descriptor out. */
#ifndef HOSTILE_H
#define HOSTILE_H
#include <enginehost/engine_plugin.h>
#include <stdlib.h>
#include <string.h>

#ifndef HOSTILE_CREATE
#define HOSTILE_CREATE
#endif
#ifndef HOSTILE_DESTROY
#define HOSTILE_DESTROY
#endif
#ifndef HOSTILE_SELFTEST
#define HOSTILE_SELFTEST
#endif
#ifndef HOSTILE_INFO
#define HOSTILE_INFO
#endif
#ifndef HOSTILE_FACTS
#define HOSTILE_FACTS
#endif
#ifndef HOSTILE_KIND
#define HOSTILE_KIND "cpu"
#endif
#ifndef HOSTILE_NULL_ID
#define HOSTILE_NULL_ID return NULL;
#endif
#ifndef HOSTILE_QUERY
#define HOSTILE_QUERY
#endif
#ifndef HOSTILE_MAGIC
#define HOSTILE_MAGIC ENGINE_PLUGIN_MAGIC
#endif
#ifndef HOSTILE_SIZE
#define HOSTILE_SIZE sizeof(engine_plugin)
#endif
#ifndef HOSTILE_ABI
#define HOSTILE_ABI ENGINE_ABI_MAJOR, ENGINE_ABI_MINOR
#endif
#ifndef HOSTILE_FLOOR
#define HOSTILE_FLOOR 0
#endif
#ifndef HOSTILE_FLAGS
#define HOSTILE_FLAGS ENGINE_PLUGIN_UNLOADABLE
#endif

struct engine_instance {
  engine_entry facts[1];
};

static inline engine_status hostile_fail(engine_call* call, engine_status status, const char* message) {
  return call->fail(call, status, "", 0, message);
}

static uint32_t hostile_count(engine_instance* engine) { return (void)engine, 1; }

static engine_status hostile_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                                  engine_call* call) {
  (void)engine;
  if (number != 0) return hostile_fail(call, ENGINE_INVALID, "There is one device.");
  HOSTILE_INFO
  engine_device_info info = {0};
  info.size = out->size;
  info.device.type = ENGINE_CPU;
  info.kind = HOSTILE_KIND;
  info.name = info.architecture = info.driver = "";
  memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
  return ENGINE_OK;
}

static engine_status hostile_selftest(engine_instance* engine, int32_t level, engine_device device,
                                      engine_call* call) {
  (void)engine, (void)level;
  if (device.type != ENGINE_CPU || device.index != 0)
    return hostile_fail(call, ENGINE_INVALID, "Only cpu:0.");
  HOSTILE_SELFTEST
  return ENGINE_OK;
}

static engine_status hostile_create(const engine_host* host, const engine_entry* options, size_t option_count,
                                    engine_instance** out, engine_call* call) {
  (void)host;
  *out = NULL;
  HOSTILE_CREATE
  for (size_t i = 0; i < option_count; i++) {
    if (strchr(options[i].key, '.')) return hostile_fail(call, ENGINE_INVALID, "No options are known.");
  }
  *out = calloc(1, sizeof **out);
  if (!*out) return hostile_fail(call, ENGINE_NO_MEMORY, "No memory.");
  (*out)->facts[0].key = "version";
  (*out)->facts[0].value = "1.0.0";
  return ENGINE_OK;
}

static void hostile_destroy(engine_instance* engine) {
  HOSTILE_DESTROY
  free(engine);
}

static const engine_entry* hostile_facts(engine_instance* engine, size_t* count) {
  HOSTILE_FACTS
  *count = 1;
  return engine->facts;
}

static const engine_device_v1 hostile_device_table = {hostile_count, hostile_info};
static const engine_selftest_v1 hostile_selftest_table = {hostile_selftest};

static const void* hostile_query(engine_instance* engine, const char* id) {
  (void)engine;
  if (!id) HOSTILE_NULL_ID
  HOSTILE_QUERY
  if (!strcmp(id, ENGINE_DEVICE_V1)) return &hostile_device_table;
  if (!strcmp(id, ENGINE_SELFTEST_V1)) return &hostile_selftest_table;
  return NULL;
}

static const char* const hostile_capabilities[] = {"device.cpu", NULL};

#ifndef HOSTILE_NO_DESCRIPTOR
const engine_plugin engine_plugin_v1 = {HOSTILE_MAGIC,
                                        HOSTILE_SIZE,
                                        HOSTILE_ABI,
                                        HOSTILE_FLOOR,
                                        0,
                                        HOSTILE_FLAGS,
                                        "hostile",
                                        "1.0.0",
                                        "",
                                        hostile_capabilities,
                                        hostile_create,
                                        hostile_destroy,
                                        hostile_facts,
                                        hostile_query};
#else
const engine_plugin* hostile_kept(void);
ENGINE_EXPORT const engine_plugin* hostile_kept(void) {
  static const engine_plugin kept = {HOSTILE_MAGIC,
                                     HOSTILE_SIZE,
                                     HOSTILE_ABI,
                                     HOSTILE_FLOOR,
                                     0,
                                     HOSTILE_FLAGS,
                                     "hostile",
                                     "1.0.0",
                                     "",
                                     hostile_capabilities,
                                     hostile_create,
                                     hostile_destroy,
                                     hostile_facts,
                                     hostile_query};
  return &kept;
}
#endif
#endif
