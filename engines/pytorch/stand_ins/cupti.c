// Stand-in for libcupti: CUDA's profiling library on a machine without an NVIDIA GPU. Parameters and results
// are those of NVIDIA's documentation of CUPTI. Every function answers that CUPTI cannot connect to a driver,
// and fills what its caller may read: counts and sizes with 0, handles with NULL, texts with a text.
//
// Three functions have nothing to refuse, as in NVIDIA's library without a driver: the version is 0, no
// record was dropped, and there is no further record, which ends the loop of a reader.
//
// table.json says which of these functions the library of a name has; the others are left out.
#include "engines/pytorch/stand_ins/stand_in.h"

// CUptiResult
enum {
  success = 0,
  invalid_parameter = 1,
  max_limit_reached = 12,
  not_initialized = 15,  // "CUPTI is unable to initialize its connection to the CUDA driver"
};

// Handles and callbacks, which are only passed through.
typedef void* Handle;
typedef void (*Callback)(void);

// A function that only takes something.
#define TAKES(name, parameters) \
  int name parameters { return not_initialized; }
// A function that gives `value` through `pointer`.
#define GIVES(name, parameters, pointer, value, result) \
  int name parameters {                                 \
    if ((pointer) == NULL) return invalid_parameter;    \
    *(pointer) = (value);                               \
    return result;                                      \
  }

static const char* name_of(int result) {
  switch (result) {
    case success:
      return "CUPTI_SUCCESS";
    case invalid_parameter:
      return "CUPTI_ERROR_INVALID_PARAMETER";
    case max_limit_reached:
      return "CUPTI_ERROR_MAX_LIMIT_REACHED";
    case not_initialized:
      return "CUPTI_ERROR_NOT_INITIALIZED (this build has no CUDA)";
    default:
      return NULL;
  }
}

GIVES(cuptiGetVersion, (uint32_t * version), version, 0, success)
GIVES(cuptiGetResultString, (int result, const char** text), text,
      name_of(result) != NULL ? name_of(result) : "<unknown>",
      name_of(result) != NULL ? success : invalid_parameter)
// 0 would be the first device.
GIVES(cuptiGetDeviceId, (Handle context, uint32_t* device), device, UINT32_MAX, not_initialized)
TAKES(cuptiFinalize, (void))

// Activities
TAKES(cuptiActivityRegisterCallbacks, (Callback requested, Callback completed))
TAKES(cuptiActivityRegisterTimestampCallback, (Callback timestamp))
TAKES(cuptiActivityEnable, (int kind))
TAKES(cuptiActivityDisable, (int kind))
TAKES(cuptiActivityEnableDriverApi, (uint32_t callback, uint8_t enable))
TAKES(cuptiActivityEnableRuntimeApi, (uint32_t callback, uint8_t enable))
TAKES(cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t enable))
TAKES(cuptiActivityFlushAll, (uint32_t flag))
TAKES(cuptiActivitySetAttribute, (int attribute, const size_t* size, const void* value))
TAKES(cuptiActivityPushExternalCorrelationId, (int kind, uint64_t id))
GIVES(cuptiActivityGetNextRecord, (const uint8_t* buffer, size_t size, Handle* record), record, NULL,
      max_limit_reached)
GIVES(cuptiActivityGetNumDroppedRecords, (Handle context, uint32_t stream, size_t* dropped), dropped, 0,
      success)
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t* last) {
  if (last != NULL) *last = 0;  // NULL: the caller does not want it
  return not_initialized;
}

// Callbacks
GIVES(cuptiSubscribe, (Handle * subscriber, Callback callback, void* data), subscriber, NULL, not_initialized)
TAKES(cuptiUnsubscribe, (Handle subscriber))
TAKES(cuptiEnableCallback, (uint32_t enable, Handle subscriber, int domain, uint32_t callback))
TAKES(cuptiEnableDomain, (uint32_t enable, Handle subscriber, int domain))
GIVES(cuptiGetCallbackName, (int domain, uint32_t callback, const char** name), name, "<unknown>",
      invalid_parameter)

// Events and metrics, which CUDA 13 no longer has
GIVES(cuptiEventGetIdFromName, (int device, const char* name, uint32_t* event), event, 0, not_initialized)
GIVES(cuptiEventGetAttribute, (uint32_t event, int attribute, size_t* size, void* value), size, 0,
      not_initialized)
GIVES(cuptiEventGroupGetAttribute, (Handle group, int attribute, size_t* size, void* value), size, 0,
      not_initialized)
TAKES(cuptiEventGroupSetAttribute, (Handle group, int attribute, size_t size, const void* value))
GIVES(cuptiEventGroupReadEvent, (Handle group, int flags, uint32_t event, size_t* size, uint64_t* values),
      size, 0, not_initialized)
TAKES(cuptiEventGroupSetEnable, (Handle set))
TAKES(cuptiEventGroupSetDisable, (Handle set))
GIVES(cuptiEventGroupSetsCreate, (Handle context, size_t size, const uint32_t* events, Handle* passes),
      passes, NULL, not_initialized)
TAKES(cuptiEventGroupSetsDestroy, (Handle sets))
TAKES(cuptiSetEventCollectionMode, (Handle context, int mode))
GIVES(cuptiMetricGetIdFromName, (int device, const char* name, uint32_t* metric), metric, 0, not_initialized)
GIVES(cuptiMetricGetAttribute, (uint32_t metric, int attribute, size_t* size, void* value), size, 0,
      not_initialized)
GIVES(cuptiMetricGetNumEvents, (uint32_t metric, uint32_t* count), count, 0, not_initialized)
GIVES(cuptiMetricEnumEvents, (uint32_t metric, size_t* size, uint32_t* events), size, 0, not_initialized)
// The value is a union of 8 bytes.
GIVES(cuptiMetricGetValue,
      (int device, uint32_t metric, size_t events_size, const uint32_t* events, size_t values_size,
       const uint64_t* values, uint64_t duration, uint64_t* value),
      value, 0, not_initialized)
