// A libnvidia-ml.so.1 without a driver: FAKE_GPUS as for the fake libcuda, FAKE_NVML_INIT the result of
// nvmlInit_v2. Lists the devices in the opposite order and ignores CUDA_VISIBLE_DEVICES: indices of NVML and
// CUDA need not agree.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST 16

struct gpu {
  char name[64];
  int major, minor;
  unsigned uuid;
  unsigned long long mebibytes;
};
struct memory {
  unsigned long long total, free, used;
};

static struct gpu gpus[MOST];
static unsigned gpu_count;

__attribute__((constructor)) static void begin(void) {
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
}

EXPORT int nvmlInit_v2(void) {
  const char* answer = getenv("FAKE_NVML_INIT");
  return answer != NULL ? atoi(answer) : 0;
}

EXPORT const char* nvmlErrorString(int code) {
  return code == 18 ? "Driver/library version mismatch" : "Success";
}

EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  snprintf(version, size, "535.104.05");
  return 0;
}

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12020;
  return 0;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpu_count;
  return 0;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu** device) {
  *device = &gpus[gpu_count - 1 - index];
  return 0;
}

EXPORT int nvmlDeviceGetName(struct gpu* device, char* name, unsigned size) {
  snprintf(name, size, "%s", device->name);
  return 0;
}

EXPORT int nvmlDeviceGetUUID(struct gpu* device, char* uuid, unsigned size) {
  snprintf(uuid, size, "GPU-%02x010203-0405-0607-0809-0a0b0c0d0e0f", device->uuid);
  return 0;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(struct gpu* device, int* major, int* minor) {
  *major = device->major;
  *minor = device->minor;
  return 0;
}

EXPORT int nvmlDeviceGetMemoryInfo(struct gpu* device, struct memory* memory) {
  memory->total = device->mebibytes << 20;
  memory->free = memory->total;
  memory->used = 0;
  return 0;
}
