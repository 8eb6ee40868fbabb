/* Multiplies two matrices with the model that is named, and prints the product. */
#include <onnxruntime_c_api_subset.h>
#include <stdio.h>
#include <stdlib.h>

static const OrtApi* api;

static void check(OrtStatus* status) {
  if (status == NULL) return;
  fprintf(stderr, "%d: %s\n", (int)api->GetErrorCode(status), api->GetErrorMessage(status));
  api->ReleaseStatus(status);
  exit(1);
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (api == NULL) return 3;
  OrtEnv* env = NULL;
  OrtSessionOptions* options = NULL;
  OrtSession* session = NULL;
  OrtMemoryInfo* memory = NULL;
  OrtAllocator* allocator = NULL;
  check(api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "example", &env));
  check(api->CreateSessionOptions(&options));
  check(api->SetIntraOpNumThreads(options, 1));
  check(api->CreateSession(env, arguments[1], options, &session));
  check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  check(api->GetAllocatorWithDefaultOptions(&allocator));

  float left[] = {1, 2, 3, 4}, right[] = {5, 6, 7, 8};
  const int64_t shape[] = {2, 2};
  OrtValue* inputs[2] = {NULL, NULL};
  check(api->CreateTensorWithDataAsOrtValue(memory, left, sizeof left, shape, 2,
                                            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &inputs[0]));
  check(api->CreateTensorWithDataAsOrtValue(memory, right, sizeof right, shape, 2,
                                            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &inputs[1]));
  char* names[3];
  size_t number = 0;
  check(api->SessionGetInputCount(session, &number));
  if (number != 2) return 4;
  check(api->SessionGetInputName(session, 0, allocator, &names[0]));
  check(api->SessionGetInputName(session, 1, allocator, &names[1]));
  check(api->SessionGetOutputName(session, 0, allocator, &names[2]));
  OrtValue* product = NULL;
  check(api->Run(session, NULL, (const char* const*)names, (const OrtValue* const*)inputs, 2,
                 (const char* const*)(names + 2), 1, &product));
  OrtTensorTypeAndShapeInfo* info = NULL;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(api->GetTensorTypeAndShape(product, &info));
  check(api->GetDimensionsCount(info, &number));
  check(api->GetTensorElementType(info, &type));
  if (number != 2 || type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) return 5;
  float* values = NULL;
  check(api->GetTensorMutableData(product, (void**)&values));
  printf("%s: %g %g %g %g\n", OrtGetApiBase()->GetVersionString(), values[0], values[1], values[2],
         values[3]);

  for (int i = 0; i < 3; ++i) check(api->AllocatorFree(allocator, names[i]));
  api->ReleaseTensorTypeAndShapeInfo(info);
  api->ReleaseValue(product);
  for (int i = 0; i < 2; ++i) api->ReleaseValue(inputs[i]);
  api->ReleaseMemoryInfo(memory);
  api->ReleaseSession(session);
  api->ReleaseSessionOptions(options);
  api->ReleaseEnv(env);
  return 0;
}
