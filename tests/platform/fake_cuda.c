// A libcuda.so.1 without a driver, controlled by environment variables:
//   FAKE_CU_VERSION   the version of cuDriverGetVersion (default 12020)
//   FAKE_CU_INIT      the result of cuInit (default 0, or 100 when no device is visible)
//   FAKE_CU_HANG=1    cuInit never returns, and ignores SIGABRT as a thread stuck in a driver would
//   FAKE_CU_HANG_WHILE the same as long as this file exists
//   FAKE_CU_CRASH=1   cuInit crashes
//   FAKE_CU_CHATTER=1 a constructor writes a false answer to standard output and to descriptor 3
//   FAKE_CU_MODULE    the result of loading GPU code (default 0)
//   FAKE_CU_WORK      the devices compute, in host memory. The list says what fails, as "0:context=2" and
//                     "*:kernel=hang": a device or "*"; the step "context", "memory", "kernel", "result", or
//                     "runtime" (each call of NVIDIA's runtime); a CUresult, "hang", "crash", or "wrong" for
//                     the result. Not set: no step is played (801)
//   FAKE_CU_COUNT     counts the contexts that were asked for: a byte is added to this file for each
//   FAKE_GPUS         "name;major.minor;first byte of the UUID in hex;MiB" of each device, joined by "|"
// CUDA_VISIBLE_DEVICES works as in NVIDIA's programming guide: the list ends at the first entry that names
// no device.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST 16

struct gpu {
  char name[64];
  int major, minor;
  unsigned uuid;
  unsigned long long mebibytes;
};

static struct gpu gpus[MOST];
static int visible[MOST];
static int gpu_count, visible_count;

static int number(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text != NULL ? atoi(text) : otherwise;
}

static void uuid_text(unsigned first, char* text, size_t size) {
  snprintf(text, size, "GPU-%02x010203-0405-0607-0809-0a0b0c0d0e0f", first);
}

static int device_of(const char* entry) {
  char text[64], *end = NULL;
  for (int i = 0; i < gpu_count; ++i) {
    uuid_text(gpus[i].uuid, text, sizeof text);
    if (strncmp(entry, "GPU-", 4) == 0 && strncasecmp(text, entry, strlen(entry)) == 0) return i;
  }
  const long index = strtol(entry, &end, 10);
  return end != entry && *end == '\0' && index >= 0 && index < gpu_count ? (int)index : -1;
}

static void choose_visible(void) {
  const char* list = getenv("CUDA_VISIBLE_DEVICES");
  if (list == NULL) {
    for (int i = 0; i < gpu_count; ++i) visible[visible_count++] = i;
    return;
  }
  char copy[256];
  snprintf(copy, sizeof copy, "%s", list);
  for (char* entry = strtok(copy, ","); entry != NULL && visible_count < MOST; entry = strtok(NULL, ",")) {
    const int device = device_of(entry);
    if (device < 0) return;
    visible[visible_count++] = device;
  }
}

__attribute__((constructor)) static void begin(void) {
  if (number("FAKE_CU_CHATTER", 0)) {
    static const char lie[] = "{\"format\":1,\"nonce\":\"\",\"cuda\":{\"init\":{\"code\":0}}}\n";
    const ssize_t first = write(1, lie, sizeof lie - 1), second = write(3, lie, sizeof lie - 1);
    (void)first;
    (void)second;
  }
  const char* list = getenv("FAKE_GPUS");
  char copy[1024];
  snprintf(copy, sizeof copy, "%s", list != NULL ? list : "Fake GPU;8.6;a0;8192");
  char* rest = NULL;
  for (char* entry = strtok_r(copy, "|", &rest); entry != NULL && gpu_count < MOST;
       entry = strtok_r(NULL, "|", &rest)) {
    struct gpu* gpu = &gpus[gpu_count];
    if (sscanf(entry, "%63[^;];%d.%d;%x;%llu", gpu->name, &gpu->major, &gpu->minor, &gpu->uuid,
               &gpu->mebibytes) == 5)
      ++gpu_count;
  }
  choose_visible();
}

EXPORT int cuDriverGetVersion(int* version) {
  *version = number("FAKE_CU_VERSION", 12020);
  return 0;
}

EXPORT int cuInit(unsigned flags) {
  (void)flags;
  const char* mark = getenv("FAKE_CU_HANG_WHILE");
  if (number("FAKE_CU_HANG", 0) || (mark != NULL && access(mark, F_OK) == 0)) {
    signal(SIGABRT, SIG_IGN);
    for (;;) pause();
  }
  if (number("FAKE_CU_CRASH", 0)) {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would turn the crash into an exit status
    raise(SIGSEGV);
  }
  return number("FAKE_CU_INIT", visible_count > 0 ? 0 : 100);
}

EXPORT int cuDeviceGetCount(int* count) {
  *count = visible_count;
  return 0;
}

EXPORT int cuDeviceGet(int* device, int index) {
  if (index >= visible_count) return 101;
  *device = visible[index];
  return 0;
}

EXPORT int cuDeviceGetName(char* name, int size, int device) {
  snprintf(name, (size_t)size, "%s", gpus[device].name);
  return 0;
}

EXPORT int cuDeviceGetUuid(unsigned char* uuid, int device) {
  uuid[0] = (unsigned char)gpus[device].uuid;
  for (int i = 1; i < 16; ++i) uuid[i] = (unsigned char)i;
  return 0;
}

EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? gpus[device].major : attribute == 76 ? gpus[device].minor : 0;
  return 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = (size_t)gpus[device].mebibytes << 20;
  return 0;
}

EXPORT int cuDeviceGetUuid_v2(unsigned char* uuid, int device) { return cuDeviceGetUuid(uuid, device); }

EXPORT int cuModuleLoadData(void** module, const void* image) {
  (void)image;
  *module = NULL;
  return number("FAKE_CU_MODULE", 0);
}

// "Operation not supported": the result of every other function.
static int not_played(void) { return 801; }

// Work. A context is the address of its device; memory of a device is host memory, and a kernel doubles
// floats.

static char contexts[MOST];
static __thread int current = -1;

static int step(const char* name, int device) {
  const char* list = getenv("FAKE_CU_WORK");
  if (list == NULL) return not_played();
  char copy[256], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", list);
  for (char* entry = strtok_r(copy, ",", &rest); entry != NULL; entry = strtok_r(NULL, ",", &rest)) {
    char of[8], what[16], how[16];
    if (sscanf(entry, "%7[^:]:%15[^=]=%15s", of, what, how) != 3 || strcmp(what, name) != 0) continue;
    if (strcmp(of, "*") != 0 && atoi(of) != device) continue;
    if (strcmp(how, "hang") == 0)
      for (;;) pause();
    if (strcmp(how, "crash") == 0) abort();
    return strcmp(how, "wrong") == 0 ? -1 : atoi(how);
  }
  return 0;
}

static int make_context(void** context, int device) {
  const char* counter = getenv("FAKE_CU_COUNT");
  FILE* const file = counter != NULL ? fopen(counter, "a") : NULL;
  if (file != NULL) {
    fputc('c', file);
    fclose(file);
  }
  const int code = step("context", device);
  *context = code == 0 ? &contexts[device] : NULL;
  if (code == 0) current = device;
  return code;
}

// The real runtime requests private tables. Without them it passes the result on, from each of its functions
// (12.8), or works on (13.0).
EXPORT int cuGetExportTable(const void** table, const void* id) {
  (void)id;
  *table = NULL;
  const int code = getenv("FAKE_CU_WORK") != NULL ? step("runtime", -1) : 0;
  return code != 0 ? code : 500;
}

EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) { return make_context(context, device); }
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  return 0;
}
EXPORT int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  (void)flags;
  return make_context(context, device);
}
EXPORT int cuCtxSetCurrent(void* context) {
  current = context != NULL ? (int)((char*)context - contexts) : -1;
  return getenv("FAKE_CU_WORK") != NULL ? 0 : not_played();
}
EXPORT int cuMemAlloc_v2(unsigned long long* memory, size_t bytes) {
  const int code = step("memory", current);
  *memory = code == 0 ? (unsigned long long)(size_t)malloc(bytes) : 0;
  return code;
}
EXPORT int cuMemFree_v2(unsigned long long memory) {
  free((void*)(size_t)memory);
  return 0;
}
EXPORT int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
  memcpy((void*)(size_t)to, from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
  memcpy(to, (const void*)(size_t)from, bytes);
  return 0;
}
EXPORT int cuModuleGetFunction(void** function, void* module, const char* name) {
  (void)module;
  (void)name;
  *function = contexts;
  return getenv("FAKE_CU_WORK") != NULL ? 0 : not_played();
}
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void* stream, void** parameters, void** extra) {
  (void)function, (void)gx, (void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
  const int code = step("kernel", current);
  if (code != 0) return code;
  float* const values = *(float**)parameters[0];
  for (unsigned i = 0; i < bx; ++i) values[i] *= 2;
  if (step("result", current) != 0) values[0] += 1;
  return 0;
}
EXPORT int cuCtxSynchronize(void) { return getenv("FAKE_CU_WORK") != NULL ? 0 : not_played(); }

// Functions that MXNet links by name.
#define NOT_PLAYED(name) \
  EXPORT int name(void) { return not_played(); }
NOT_PLAYED(cuGetErrorString)
NOT_PLAYED(cuGraphKernelNodeGetParams)
NOT_PLAYED(cuGraphNodeGetType)
NOT_PLAYED(cuModuleLoadDataEx)
NOT_PLAYED(cuModuleUnload)

EXPORT int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags);

// The real runtime (libcudart) gets every function of the driver from here, by name and version. Before
// CUDA 12, the function of this name has no status.
EXPORT int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags,
                               int* status) {
  static void* self;
  int (*const otherwise)(void) = not_played;
  char versioned[128];
  Dl_info where;
  (void)flags;
  const int old = version < 12000 && strcmp(name, "cuGetProcAddress") == 0;
  if (self == NULL && dladdr(&gpu_count, &where) != 0) self = dlopen(where.dli_fname, RTLD_NOLOAD | RTLD_NOW);
  snprintf(versioned, sizeof versioned, "%s_v2", name);
  *function = self != NULL && !old ? dlsym(self, versioned) : NULL;
  if (*function == NULL && self != NULL) *function = dlsym(self, name);
  if (*function == NULL) memcpy(function, &otherwise, sizeof *function);
  if (status != NULL) *status = 0;
  return 0;
}

EXPORT int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
