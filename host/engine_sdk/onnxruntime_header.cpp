#include "host/engine_sdk/cmake_package.hpp"

namespace enginehost::engine_sdk {

// Names, order and numbers are those of the interface; engines/onnxruntime/c_api.hpp has the same places. The
// header can be included instead of onnxruntime_c_api.h, and a program that uses it compiles with that one
// too.
extern constexpr std::string_view onnxruntime_header =
    R"header(/* A part of ONNX Runtime's C API, declared by EngineHost
   from its documented behavior. This is no header of ONNX Runtime, whose wheels have none: a program that needs the
   whole API includes onnxruntime_c_api.h of the release instead, with the same names.

   The API is one table of functions that only grows at its end. Entries that are not declared here have names
   that begin with "undeclared". A function that returns OrtStatus* returns NULL for success; release the status. */
#ifndef ONNXRUNTIME_C_API_SUBSET_H
#define ONNXRUNTIME_C_API_SUBSET_H
#ifdef ORT_API_VERSION
#error "onnxruntime_c_api.h is included already; onnxruntime_c_api_subset.h stands for it"
#endif
#include <stddef.h>
#include <stdint.h>

/* The oldest version of the table that has every function below. */
#define ORT_API_VERSION 17

#ifdef __cplusplus
extern "C" {
#endif

typedef struct OrtStatus OrtStatus;
typedef struct OrtEnv OrtEnv;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtValue OrtValue;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef OrtStatus* OrtStatusPtr;

typedef enum OrtErrorCode {
  ORT_OK = 0,
  ORT_FAIL = 1,
  ORT_INVALID_ARGUMENT = 2,
  ORT_NO_SUCHFILE = 3,
  ORT_INVALID_PROTOBUF = 7,
  ORT_NOT_IMPLEMENTED = 9,
  ORT_INVALID_GRAPH = 10
} OrtErrorCode;

typedef enum OrtLoggingLevel {
  ORT_LOGGING_LEVEL_VERBOSE = 0,
  ORT_LOGGING_LEVEL_INFO = 1,
  ORT_LOGGING_LEVEL_WARNING = 2,
  ORT_LOGGING_LEVEL_ERROR = 3,
  ORT_LOGGING_LEVEL_FATAL = 4
} OrtLoggingLevel;

typedef enum ONNXTensorElementDataType {
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED = 0,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 = 2,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 = 3,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 = 4,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 = 5,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 = 6,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING = 8,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL = 9,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 = 10,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11
} ONNXTensorElementDataType;

typedef enum OrtAllocatorType { OrtDeviceAllocator = 0, OrtArenaAllocator = 1 } OrtAllocatorType;
typedef enum OrtMemType { OrtMemTypeDefault = 0 } OrtMemType;

typedef struct OrtApi {
  void* undeclared_0;
  OrtErrorCode (*GetErrorCode)(const OrtStatus* status);
  const char* (*GetErrorMessage)(const OrtStatus* status);
  OrtStatus* (*CreateEnv)(OrtLoggingLevel least, const char* log_id, OrtEnv** env);
  void* undeclared_4[3];
  OrtStatus* (*CreateSession)(const OrtEnv* env, const char* model_path, const OrtSessionOptions* options,
                              OrtSession** session);
  OrtStatus* (*CreateSessionFromArray)(const OrtEnv* env, const void* model, size_t size,
                                       const OrtSessionOptions* options, OrtSession** session);
  OrtStatus* (*Run)(OrtSession* session, const OrtRunOptions* options, const char* const* input_names,
                    const OrtValue* const* inputs, size_t input_count, const char* const* output_names,
                    size_t output_count, OrtValue** outputs);
  OrtStatus* (*CreateSessionOptions)(OrtSessionOptions** options);
  void* undeclared_11[3];
  OrtStatus* (*EnableProfiling)(OrtSessionOptions* options, const char* file_prefix);
  void* undeclared_15[2];
  OrtStatus* (*DisableMemPattern)(OrtSessionOptions* options);
  void* undeclared_18[6];
  OrtStatus* (*SetIntraOpNumThreads)(OrtSessionOptions* options, int threads);
  void* undeclared_25[5];
  OrtStatus* (*SessionGetInputCount)(const OrtSession* session, size_t* count);
  OrtStatus* (*SessionGetOutputCount)(const OrtSession* session, size_t* count);
  void* undeclared_32;
  OrtStatus* (*SessionGetInputTypeInfo)(const OrtSession* session, size_t index, OrtTypeInfo** type);
  OrtStatus* (*SessionGetOutputTypeInfo)(const OrtSession* session, size_t index, OrtTypeInfo** type);
  void* undeclared_35;
  OrtStatus* (*SessionGetInputName)(const OrtSession* session, size_t index, OrtAllocator* allocator, char** name);
  OrtStatus* (*SessionGetOutputName)(const OrtSession* session, size_t index, OrtAllocator* allocator, char** name);
  void* undeclared_38;
  OrtStatus* (*CreateRunOptions)(OrtRunOptions** options);
  void* undeclared_40[6];
  OrtStatus* (*RunOptionsSetTerminate)(OrtRunOptions* options);
  void* undeclared_47;
  OrtStatus* (*CreateTensorAsOrtValue)(OrtAllocator* allocator, const int64_t* shape, size_t rank,
                                       ONNXTensorElementDataType type, OrtValue** value);
  OrtStatus* (*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo* memory, void* data, size_t bytes,
                                               const int64_t* shape, size_t rank, ONNXTensorElementDataType type,
                                               OrtValue** value);
  void* undeclared_50;
  OrtStatus* (*GetTensorMutableData)(OrtValue* value, void** data);
  void* undeclared_52[3];
  OrtStatus* (*CastTypeInfoToTensorInfo)(const OrtTypeInfo* type, const OrtTensorTypeAndShapeInfo** info);
  void* undeclared_56[4];
  OrtStatus* (*GetTensorElementType)(const OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType* type);
  OrtStatus* (*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo* info, size_t* count);
  OrtStatus* (*GetDimensions)(const OrtTensorTypeAndShapeInfo* info, int64_t* sizes, size_t count);
  OrtStatus* (*GetSymbolicDimensions)(const OrtTensorTypeAndShapeInfo* info, const char** names, size_t count);
  void* undeclared_64;
  OrtStatus* (*GetTensorTypeAndShape)(const OrtValue* value, OrtTensorTypeAndShapeInfo** info);
  void* undeclared_66[3];
  OrtStatus* (*CreateCpuMemoryInfo)(OrtAllocatorType allocator, OrtMemType type, OrtMemoryInfo** memory);
  void* undeclared_70[6];
  OrtStatus* (*AllocatorFree)(OrtAllocator* allocator, void* memory);
  void* undeclared_77;
  OrtStatus* (*GetAllocatorWithDefaultOptions)(OrtAllocator** allocator);
  void* undeclared_79[13];
  void (*ReleaseEnv)(OrtEnv* env);
  void (*ReleaseStatus)(OrtStatus* status);
  void (*ReleaseMemoryInfo)(OrtMemoryInfo* memory);
  void (*ReleaseSession)(OrtSession* session);
  void (*ReleaseValue)(OrtValue* value);
  void (*ReleaseRunOptions)(OrtRunOptions* options);
  void (*ReleaseTypeInfo)(OrtTypeInfo* type);
  void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo* info);
  void (*ReleaseSessionOptions)(OrtSessionOptions* options);
} OrtApi;

typedef struct OrtApiBase {
  /* Returns NULL if the library does not serve that version of the table. */
  const OrtApi* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)(void);
} OrtApiBase;

const OrtApiBase* OrtGetApiBase(void);

#ifdef __cplusplus
}
#endif
#endif
)header";

}  // namespace enginehost::engine_sdk
