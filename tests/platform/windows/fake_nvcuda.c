/* An nvcuda.dll without a driver; controlled by environment variables:
     FAKE_CU_INIT    what cuInit answers (default 0)
     FAKE_CU_HANG=1  cuInit never returns
     FAKE_CU_CRASH=1 cuInit crashes */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#define EXPORT __declspec(dllexport)

static int number(const char* name) {
  char text[32] = "";
  GetEnvironmentVariableA(name, text, sizeof text);
  return atoi(text);
}

EXPORT int cuDriverGetVersion(int* version);
EXPORT int cuDriverGetVersion(int* version) {
  *version = 13020;
  return 0;
}

EXPORT int cuInit(unsigned flags);
EXPORT int cuInit(unsigned flags) {
  (void)flags;
  if (number("FAKE_CU_HANG")) Sleep(INFINITE);
  if (number("FAKE_CU_CRASH")) RaiseException(EXCEPTION_ACCESS_VIOLATION, EXCEPTION_NONCONTINUABLE, 0, NULL);
  return number("FAKE_CU_INIT");
}

EXPORT int cuDeviceGetCount(int* count);
EXPORT int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

EXPORT int cuDeviceGet(int* device, int index);
EXPORT int cuDeviceGet(int* device, int index) {
  *device = index;
  return index == 0 ? 0 : 101;
}

EXPORT int cuDeviceGetName(char* name, int size, int device);
EXPORT int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  snprintf(name, (size_t)size, "Fake GPU");
  return 0;
}

EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device);
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 12 : 0;
  return 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device);
EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)32 << 30;
  return 0;
}
