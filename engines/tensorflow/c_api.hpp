// The part of TensorFlow's C API that this adapter uses, declared from its documented behavior
// (tensorflow/c/c_api.h and tf_tensor.h of the wheels' include folder describe it). Functions are looked up
// by name in the loaded library, so compiling needs nothing of TensorFlow.
#pragma once
#include <cstddef>
#include <cstdint>

namespace enginehost::engines::tensorflow {

struct TF_Status;
struct TF_Graph;
struct TF_Session;
struct TF_SessionOptions;
struct TF_Operation;
struct TF_OperationDescription;
struct TF_Tensor;
struct TF_DeviceList;

struct TF_Output {
  TF_Operation* operation;
  int index;
};
struct TF_Buffer {
  const void* data;
  size_t length;
  void (*deallocate)(void* data, size_t length);
};
// Text in TensorFlow's form since 2.4: 24 bytes that only its own functions interpret.
struct alignas(8) TF_String {
  unsigned char bytes[24];
};

// TF_Code
enum Code {
  code_canceled = 1,
  code_invalid_argument = 3,
  code_deadline_exceeded = 4,
  code_not_found = 5,
  code_already_exists = 6,
  code_resource_exhausted = 8,
  code_unimplemented = 12,
  code_internal = 13,
  code_data_loss = 15,
};
// TF_DataType, the values that other places need by name
constexpr int tf_float = 1, tf_string = 7;

using Deallocator = void (*)(void* data, size_t length, void* argument);

// One pointer for each function. A library that lacks one is refused.
struct Api {
  const char* (*TF_Version)();
  TF_Status* (*TF_NewStatus)();
  void (*TF_DeleteStatus)(TF_Status*);
  int (*TF_GetCode)(const TF_Status*);
  const char* (*TF_Message)(const TF_Status*);
  TF_Buffer* (*TF_NewBuffer)();
  void (*TF_DeleteBuffer)(TF_Buffer*);
  TF_Buffer* (*TF_GetAllOpList)();
  TF_Buffer* (*TF_GetRegisteredKernelsForOp)(const char* operation, TF_Status*);

  TF_Graph* (*TF_NewGraph)();
  void (*TF_DeleteGraph)(TF_Graph*);
  TF_Operation* (*TF_GraphOperationByName)(TF_Graph*, const char*);
  int (*TF_OperationNumOutputs)(TF_Operation*);
  TF_OperationDescription* (*TF_NewOperation)(TF_Graph*, const char* type, const char* name);
  void (*TF_SetAttrType)(TF_OperationDescription*, const char* name, int type);
  void (*TF_AddInput)(TF_OperationDescription*, TF_Output);
  TF_Operation* (*TF_FinishOperation)(TF_OperationDescription*, TF_Status*);

  TF_SessionOptions* (*TF_NewSessionOptions)();
  void (*TF_DeleteSessionOptions)(TF_SessionOptions*);
  void (*TF_SetConfig)(TF_SessionOptions*, const void* bytes, size_t length, TF_Status*);
  TF_Session* (*TF_NewSession)(TF_Graph*, const TF_SessionOptions*, TF_Status*);
  TF_Session* (*TF_LoadSessionFromSavedModel)(const TF_SessionOptions*, const TF_Buffer* run_options,
                                              const char* folder, const char* const* tags, int tag_count,
                                              TF_Graph*, TF_Buffer* meta_graph, TF_Status*);
  void (*TF_CloseSession)(TF_Session*, TF_Status*);
  void (*TF_DeleteSession)(TF_Session*, TF_Status*);
  void (*TF_SessionRun)(TF_Session*, const TF_Buffer* run_options, const TF_Output* inputs,
                        TF_Tensor* const* input_values, int input_count, const TF_Output* outputs,
                        TF_Tensor** output_values, int output_count, const TF_Operation* const* targets,
                        int target_count, TF_Buffer* run_metadata, TF_Status*);
  TF_DeviceList* (*TF_SessionListDevices)(TF_Session*, TF_Status*);
  void (*TF_DeleteDeviceList)(TF_DeviceList*);
  int (*TF_DeviceListCount)(const TF_DeviceList*);
  const char* (*TF_DeviceListName)(const TF_DeviceList*, int, TF_Status*);
  const char* (*TF_DeviceListType)(const TF_DeviceList*, int, TF_Status*);

  TF_Tensor* (*TF_NewTensor)(int type, const int64_t* sizes, int rank, void* data, size_t length, Deallocator,
                             void* argument);
  TF_Tensor* (*TF_AllocateTensor)(int type, const int64_t* sizes, int rank, size_t length);
  void (*TF_DeleteTensor)(TF_Tensor*);
  // Returns the tensor itself if nothing else holds its memory, else nullptr.
  TF_Tensor* (*TF_TensorMaybeMove)(TF_Tensor*);
  int (*TF_TensorType)(const TF_Tensor*);
  int (*TF_NumDims)(const TF_Tensor*);
  int64_t (*TF_Dim)(const TF_Tensor*, int);
  size_t (*TF_TensorByteSize)(const TF_Tensor*);
  void* (*TF_TensorData)(const TF_Tensor*);

  void (*TF_StringInit)(TF_String*);
  void (*TF_StringCopy)(TF_String*, const char* text, size_t length);
  const char* (*TF_StringGetDataPointer)(const TF_String*);
  size_t (*TF_StringGetSize)(const TF_String*);
  void (*TF_StringDealloc)(TF_String*);
};

}  // namespace enginehost::engines::tensorflow
