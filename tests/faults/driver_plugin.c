/* An engine that computes on NVIDIA's driver alone (libcuda.so.1, tests/platform/fake_cuda.c). Its devices
 * are the processor and the driver's. A self-test makes a context, allocates, launches a kernel and compares
 * its result. DRIVER_PLUGIN selects how it lists devices: "" as the driver does; "works" only those whose
 * context can be made, as engines that ask CUDA's runtime do; "processor" none of the driver's; "first" the
 * first one; "here" none in a process other than the probe, as after a fork; "gone" none while the file
 * DRIVER_FILE does not exist.
 */
#include <dlfcn.h>
#include <enginehost/engine_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 16
#define VALUES 32

struct engine_instance {
  const engine_host* host;
  int listed;
  char names[MOST][64];
};

static int is_set_to(const char* word) {
  const char* said = getenv("DRIVER_PLUGIN");
  return said != NULL && strcmp(said, word) == 0;
}

/* Returns the driver's function, or NULL. */
static void (*driver(const char* function))(void) {
  static void* library;
  void (*found)(void) = NULL;
  if (library == NULL) library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const symbol = library != NULL ? dlsym(library, function) : NULL;
  memcpy(&found, &symbol, sizeof found);
  return found;
}

/* Calls through a pointer of exactly these types. */
#define CALL(name, types, ...) ((int(*) types)driver(name))(__VA_ARGS__)

static int make_context(int index) {
  int device = 0;
  void* context = NULL;
  const int code = CALL("cuDeviceGet", (int*, int), &device, index);
  return code != 0 ? code : CALL("cuDevicePrimaryCtxRetain", (void**, int), &context, device);
}

/* Returns a CUresult, or -1 for a wrong result; `step` is the call that failed. */
static int compute(int index, const char** step) {
  unsigned long long memory = 0;
  void *module = NULL, *function = NULL;
  float values[VALUES];
  for (int i = 0; i < VALUES; ++i) values[i] = (float)i;
  int code = make_context(index);
  *step = "cuDevicePrimaryCtxRetain";
  if (code != 0) return code;
  *step = "cuMemAlloc";
  code = CALL("cuMemAlloc_v2", (unsigned long long*, size_t), &memory, sizeof values);
  if (code != 0) return code;
  CALL("cuMemcpyHtoD_v2", (unsigned long long, const void*, size_t), memory, values, sizeof values);
  *step = "cuModuleLoadData";
  code = CALL("cuModuleLoadData", (void**, const void*), &module, "");
  if (code == 0)
    code = CALL("cuModuleGetFunction", (void**, void*, const char*), &function, module, "double");
  if (code == 0) {
    void* parameters[] = {&memory};
    *step = "cuLaunchKernel";
    code = CALL(
        "cuLaunchKernel",
        (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**),
        function, 1, 1, 1, VALUES, 1, 1, 0, NULL, parameters, NULL);
  }
  if (code == 0) {
    *step = "the result";
    CALL("cuMemcpyDtoH_v2", (void*, unsigned long long, size_t), values, memory, sizeof values);
    for (int i = 0; i < VALUES && code == 0; ++i) code = values[i] == (float)(2 * i) ? 0 : -1;
  }
  CALL("cuMemFree_v2", (unsigned long long), memory);
  return code;
}

static engine_status create(const engine_host* host, const engine_entry* options, size_t count,
                            engine_instance** out, engine_call* call) {
  (void)options, (void)count, (void)call;
  engine_instance* engine = calloc(1, sizeof *engine);
  engine->host = host;
  int devices = 0;
  const char* file = getenv("DRIVER_FILE");
  const int is_hidden = is_set_to("processor") ||
                        (is_set_to("here") && strcmp(host->name, "enginehost-probe") != 0) ||
                        (is_set_to("gone") && file != NULL && access(file, F_OK) != 0);
  if (!is_hidden && driver("cuInit") != NULL && CALL("cuInit", (unsigned), 0) == 0)
    CALL("cuDeviceGetCount", (int*), &devices);
  if (devices > MOST) devices = MOST;
  if (is_set_to("first") && devices > 1) devices = 1;
  for (int i = 0; i < devices; ++i) {
    if (is_set_to("works") && make_context(i) != 0) break;
    CALL("cuDeviceGetName", (char*, int, int), engine->names[i], (int)sizeof engine->names[i], i);
    ++engine->listed;
  }
  *out = engine;
  return ENGINE_OK;
}
static void destroy(engine_instance* engine) { free(engine); }
static const engine_entry* facts(engine_instance* engine, size_t* count) {
  static const engine_entry entries[] = {{"version", "1.0.0"}};
  (void)engine;
  *count = 1;
  return entries;
}

static uint32_t device_count(engine_instance* engine) { return (uint32_t)engine->listed + 1; }
static engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                                 engine_call* call) {
  if (number > (uint32_t)engine->listed) return call->fail(call, ENGINE_INVALID, "", 0, "no such device");
  const uint32_t size = out->size;
  memset(out, 0, sizeof *out);
  out->size = size;
  out->device.type = number == 0 ? ENGINE_CPU : ENGINE_CUDA;
  out->device.index = number == 0 ? 0 : (int32_t)number - 1;
  out->kind = number == 0 ? "cpu" : "cuda";
  out->name = number == 0 ? "processor" : engine->names[number - 1];
  out->architecture = out->driver = "";
  return ENGINE_OK;
}

static engine_status selftest(engine_instance* engine, int32_t level, engine_device device,
                              engine_call* call) {
  (void)engine, (void)level;
  if (device.type == ENGINE_CPU) return ENGINE_OK;
  if (driver("cuInit") == NULL)
    return call->fail(call, ENGINE_UNAVAILABLE, "", 0, "there is no NVIDIA driver");
  const char* step = "";
  const int code = compute(device.index, &step);
  if (code == 0) return ENGINE_OK;
  char text[96];
  snprintf(text, sizeof text, code < 0 ? "%s is wrong" : "%s answers %d", step, code);
  if (code < 0) return call->fail(call, ENGINE_INTERNAL, "", 0, text);
  return call->fail(call,
                    code == 2                   ? ENGINE_NO_MEMORY
                    : code >= 700 && code < 800 ? ENGINE_LOST
                                                : ENGINE_UNAVAILABLE,
                    "cuda", code, text);
}

static const void* query(engine_instance* engine, const char* id) {
  static const engine_device_v1 devices = {device_count, device_info};
  static const engine_selftest_v1 test = {selftest};
  (void)engine;
  if (id == NULL) return NULL;
  if (strcmp(id, ENGINE_DEVICE_V1) == 0) return &devices;
  if (strcmp(id, ENGINE_SELFTEST_V1) == 0) return &test;
  return NULL;
}
static const char* const capabilities[] = {"device.cpu", "device.cuda", NULL};
ENGINE_EXPORT const engine_plugin engine_plugin_v1 = {ENGINE_PLUGIN_MAGIC,
                                                      sizeof(engine_plugin),
                                                      ENGINE_ABI_MAJOR,
                                                      0,
                                                      0,
                                                      0,
                                                      0,
                                                      "reference",
                                                      "1.0.0",
                                                      "test",
                                                      capabilities,
                                                      create,
                                                      destroy,
                                                      facts,
                                                      query};
