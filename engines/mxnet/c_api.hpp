// The part of MXNet's C API that this adapter uses, declared from its documented behavior
// (mxnet/c_predict_api.h and c_api.h of the wheel's include folder describe it). Functions are looked up by
// name in the loaded library. Every function that returns int returns 0, or -1 and leaves the reason in
// MXGetLastError (one for each thread).
#pragma once
#include <cstddef>
#include <cstdint>

namespace enginehost::engines::mxnet {

using Predictor = void*;
using Symbol = void*;
using Array = void*;

constexpr int cpu_device = 1, gpu_device = 2;

struct Feature {
  const char* name;
  bool enabled;
};

struct Api {
  const char* (*MXGetLastError)();
  int (*MXGetVersion)(int* version);  // 10901 is 1.9.1
  int (*MXSetNumOMPThreads)(int count);
  int (*MXLibInfoFeatures)(const Feature** features, size_t* count);
  int (*MXGetGPUCount)(int* count);

  int (*MXSymbolCreateFromJSON)(const char* json, Symbol* out);
  int (*MXSymbolFree)(Symbol);
  int (*MXSymbolListArguments)(Symbol, uint32_t* count, const char*** names);
  int (*MXSymbolListAuxiliaryStates)(Symbol, uint32_t* count, const char*** names);
  int (*MXSymbolListOutputs)(Symbol, uint32_t* count, const char*** names);
  int (*MXNDArrayLoadFromBuffer)(const void* bytes, size_t size, uint32_t* array_count, Array** arrays,
                                 uint32_t* name_count, const char*** names);
  int (*MXNDArrayFree)(Array);

  // Shapes lie one behind the other in `sizes`; the shape of input i is from starts[i] to starts[i + 1].
  int (*MXPredCreateEx)(const char* symbol_json, const void* parameters, int parameter_bytes, int device_type,
                        int device_index, uint32_t input_count, const char** inputs, const uint32_t* starts,
                        const uint32_t* sizes, uint32_t type_count, const char** typed_names,
                        const int* types, Predictor* out);
  int (*MXPredFree)(Predictor);
  // `count` is in elements of any type.
  int (*MXPredSetInput)(Predictor, const char* name, const float* data, uint32_t count);
  int (*MXPredForward)(Predictor);
  int (*MXPredGetOutputShape)(Predictor, uint32_t output, uint32_t** sizes, uint32_t* rank);
  int (*MXPredGetOutputType)(Predictor, uint32_t output, int* type);
  int (*MXPredGetOutput)(Predictor, uint32_t output, float* data, uint32_t count);
};

}  // namespace enginehost::engines::mxnet
