/* A small plugin that works by default. AT_LOAD, AT_CREATE, AT_QUERY, AT_SELFTEST, AT_DESTROY and AT_UNLOAD
 * are statements from the compiler's command line that run at that stage. */
#include <enginehost/engine_plugin.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef AT_LOAD
#define AT_LOAD
#endif
#ifndef AT_CREATE
#define AT_CREATE
#endif
#ifndef DEVICES
#define DEVICES 1
#endif
#ifndef AT_QUERY
#define AT_QUERY
#endif
#ifndef AT_SELFTEST
#define AT_SELFTEST
#endif
#ifndef AT_DESTROY
#define AT_DESTROY
#endif
#ifndef AT_UNLOAD
#define AT_UNLOAD
#endif
#ifndef HOST_MINOR
#define HOST_MINOR 0
#endif
#ifndef MAJOR
#define MAJOR ENGINE_ABI_MAJOR
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef CAPABILITIES
#define CAPABILITIES "device.cpu"
#endif
#ifndef ENGINE
#define ENGINE "fixture"
#endif
#ifndef CREATE
#define CREATE create
#endif
#ifndef DESCRIPTOR
#define DESCRIPTOR engine_plugin_v1
#endif

__attribute__((constructor)) static void at_load(void) { AT_LOAD; }
__attribute__((destructor)) static void at_unload(void) { AT_UNLOAD; }

struct engine_instance {
  const engine_host* host;
};

static engine_status create(const engine_host* host, const engine_entry* options, size_t count,
                            engine_instance** out, engine_call* call) {
  (void)options, (void)count, (void)call;
  *out = NULL;
  AT_CREATE;
  *out = calloc(1, sizeof **out);
  (*out)->host = host;
  host->log(host, ENGINE_LOG_INFO, "fixture", "created");
  return ENGINE_OK;
}
static void destroy(engine_instance* engine) {
  AT_DESTROY;
  free(engine);
}
static const engine_entry* facts(engine_instance* engine, size_t* count) {
  static const engine_entry entries[] = {{"version", "1.2.3"}};
  (void)engine;
  *count = 1;
  return entries;
}
static uint32_t device_count(engine_instance* engine) { return (void)engine, DEVICES; }
static engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                                 engine_call* call) {
  (void)engine;
  if (number != 0) return call->fail(call, ENGINE_INVALID, "", 0, "no such device");
  out->device.type = ENGINE_CPU;
  out->kind = "cpu", out->name = "fixture processor", out->architecture = "", out->driver = "";
  return ENGINE_OK;
}
static engine_status selftest(engine_instance* engine, int32_t level, engine_device device,
                              engine_call* call) {
  (void)engine, (void)level, (void)device, (void)call;
  AT_SELFTEST;
  return ENGINE_OK;
}
static const void* query(engine_instance* engine, const char* id) {
  static const engine_device_v1 devices = {device_count, device_info};
  static const engine_selftest_v1 test = {selftest};
  (void)engine;
  AT_QUERY;
  if (id && !strcmp(id, ENGINE_DEVICE_V1)) return &devices;
  if (id && !strcmp(id, ENGINE_SELFTEST_V1)) return &test;
  return NULL;
}
static const char* const capabilities[] = {CAPABILITIES, NULL};
ENGINE_EXPORT const engine_plugin DESCRIPTOR = {ENGINE_PLUGIN_MAGIC,
                                                sizeof(engine_plugin),
                                                MAJOR,
                                                0,
                                                HOST_MINOR,
                                                0,
                                                FLAGS,
                                                ENGINE,
                                                "1.2.3",
                                                "test",
                                                capabilities,
                                                CREATE,
                                                destroy,
                                                facts,
                                                query};
