// The part of ONNX Runtime's C API that this adapter uses, declared from its documented behavior. The API is
// one table of function pointers that only grows at its end, so slot numbers are stable. The tests run these
// with releases from 1.20 to 1.30. Compiling needs no header of ONNX Runtime.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace enginehost::engines::onnxruntime {

struct OrtStatus;
struct OrtEnv;
struct OrtSession;
struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtMemoryInfo;
struct OrtAllocator;
struct OrtValue;
struct OrtTypeInfo;
struct OrtTensorInfo;
struct OrtModelMetadata;
struct OrtCudaOptions;
struct OrtEpDevice;
struct OrtHardwareDevice;
struct OrtKeyValuePairs;

// The table for GetApi(n) has at least the functions of release 1.n; every later release provides it too.
constexpr uint32_t oldest_api = 17;
// From this release on, execution providers may be libraries of their own.
constexpr uint32_t provider_api = 23;
// From this release on, the runtime lists the hardware that it found.
constexpr uint32_t hardware_api = 24;

struct OrtApiBase {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version_string)();
};

// ORTCHAR_T in its documentation: wide characters on Windows.
using OrtPathCharacter = std::filesystem::path::value_type;

using OrtLogger = void (*)(void* parameter, int severity, const char* category, const char* id,
                           const char* location, const char* message);

enum OrtErrorCode {
  ort_fail = 1,
  ort_invalid_argument = 2,
  ort_no_such_file = 3,
  ort_invalid_protobuf = 7,
  ort_not_implemented = 9,
  ort_invalid_graph = 10,
};
enum OrtValueKind { ort_unknown_value = 0, ort_tensor = 1, ort_sequence = 2, ort_map = 3 };
enum OrtHardwareKind { ort_hardware_cpu = 0, ort_hardware_gpu = 1, ort_hardware_npu = 2 };
constexpr int ort_string = 8;

// Functions that can fail return a status: nullptr for success, else an object to release.
template <int slot, class... Arguments>
struct Function {
  OrtStatus* operator()(void* const* table, Arguments... arguments) const {
    return reinterpret_cast<OrtStatus* (*)(Arguments...)>(table[slot])(arguments...);
  }
};
template <int slot, class Result, class... Arguments>
struct PlainFunction {
  Result operator()(void* const* table, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(table[slot])(arguments...);
  }
};

namespace api {
inline constexpr PlainFunction<1, int, const OrtStatus*> get_error_code;
inline constexpr PlainFunction<2, const char*, const OrtStatus*> get_error_message;
inline constexpr Function<4, OrtLogger, void*, int, const char*, OrtEnv**> create_env_with_logger;
inline constexpr Function<7, OrtEnv*, const OrtPathCharacter*, const OrtSessionOptions*, OrtSession**>
    create_session;
inline constexpr Function<8, OrtEnv*, const void*, size_t, const OrtSessionOptions*, OrtSession**>
    create_session_from_array;
inline constexpr Function<9, OrtSession*, const OrtRunOptions*, const char* const*, const OrtValue* const*,
                          size_t, const char* const*, size_t, OrtValue**>
    run;
inline constexpr Function<10, OrtSessionOptions**> create_session_options;
inline constexpr Function<14, OrtSessionOptions*, const OrtPathCharacter*> enable_profiling;
inline constexpr Function<17, OrtSessionOptions*> disable_memory_pattern;
inline constexpr Function<24, OrtSessionOptions*, int> set_intra_op_threads;
inline constexpr Function<30, const OrtSession*, size_t*> input_count;
inline constexpr Function<31, const OrtSession*, size_t*> output_count;
inline constexpr Function<32, const OrtSession*, size_t*> overridable_count;
inline constexpr Function<33, const OrtSession*, size_t, OrtTypeInfo**> input_type;
inline constexpr Function<34, const OrtSession*, size_t, OrtTypeInfo**> output_type;
inline constexpr Function<35, const OrtSession*, size_t, OrtTypeInfo**> overridable_type;
inline constexpr Function<36, const OrtSession*, size_t, OrtAllocator*, char**> input_name;
inline constexpr Function<37, const OrtSession*, size_t, OrtAllocator*, char**> output_name;
inline constexpr Function<38, const OrtSession*, size_t, OrtAllocator*, char**> overridable_name;
inline constexpr Function<39, OrtRunOptions**> create_run_options;
inline constexpr Function<46, OrtRunOptions*> set_terminate;
inline constexpr Function<48, OrtAllocator*, const int64_t*, size_t, int, OrtValue**> create_tensor;
inline constexpr Function<49, const OrtMemoryInfo*, void*, size_t, const int64_t*, size_t, int, OrtValue**>
    create_tensor_over;
inline constexpr Function<51, OrtValue*, void**> tensor_data;
inline constexpr Function<52, OrtValue*, const char* const*, size_t> fill_strings;
inline constexpr Function<53, const OrtValue*, size_t*> string_bytes;
inline constexpr Function<54, const OrtValue*, void*, size_t, size_t*, size_t> string_content;
inline constexpr Function<55, const OrtTypeInfo*, const OrtTensorInfo**> as_tensor_info;
inline constexpr Function<56, const OrtTypeInfo*, int*> kind_of_type;
inline constexpr Function<60, const OrtTensorInfo*, int*> element_type;
inline constexpr Function<61, const OrtTensorInfo*, size_t*> rank;
inline constexpr Function<62, const OrtTensorInfo*, int64_t*, size_t> sizes;
inline constexpr Function<63, const OrtTensorInfo*, const char**, size_t> size_names;
inline constexpr Function<65, const OrtValue*, OrtTensorInfo**> info_of_tensor;
inline constexpr Function<67, const OrtValue*, int*> kind_of_value;
inline constexpr Function<69, int, int, OrtMemoryInfo**> create_cpu_memory;
inline constexpr Function<76, OrtAllocator*, void*> allocator_free;
inline constexpr Function<78, OrtAllocator**> default_allocator;
inline constexpr Function<80, const OrtValue*, int, OrtAllocator*, OrtValue**> part_of_value;
inline constexpr Function<81, const OrtValue*, size_t*> parts_of_value;
inline constexpr Function<110, OrtSession*, OrtAllocator*, char**> end_profiling;
inline constexpr Function<111, const OrtSession*, OrtModelMetadata**> metadata;
inline constexpr Function<112, const OrtModelMetadata*, OrtAllocator*, char**> metadata_producer;
inline constexpr Function<116, const OrtModelMetadata*, OrtAllocator*, const char*, char**> metadata_lookup;
inline constexpr Function<123, const OrtModelMetadata*, OrtAllocator*, char***, int64_t*> metadata_keys;
inline constexpr Function<130, OrtSessionOptions*, const char*, const char*> add_session_setting;
inline constexpr Function<204, OrtSessionOptions*, const OrtCudaOptions*> append_cuda;
inline constexpr Function<205, OrtCudaOptions**> create_cuda_options;
inline constexpr Function<206, OrtCudaOptions*, const char* const*, const char* const*, size_t>
    update_cuda_options;
inline constexpr Function<216, OrtSessionOptions*, const char*, const char* const*, const char* const*,
                          size_t>
    append_provider;
inline constexpr PlainFunction<297, const char*, const OrtKeyValuePairs*, const char*> key_value;
inline constexpr Function<301, OrtEnv*, const char*, const OrtPathCharacter*> register_provider;
inline constexpr Function<303, const OrtEnv*, const OrtEpDevice* const**, size_t*> provider_devices;
inline constexpr Function<304, OrtSessionOptions*, OrtEnv*, const OrtEpDevice* const*, size_t,
                          const char* const*, const char* const*, size_t>
    append_provider_devices;
inline constexpr PlainFunction<307, int, const OrtHardwareDevice*> hardware_kind;
inline constexpr PlainFunction<309, const char*, const OrtHardwareDevice*> hardware_vendor;
inline constexpr PlainFunction<311, const OrtKeyValuePairs*, const OrtHardwareDevice*> hardware_metadata;
inline constexpr PlainFunction<312, const char*, const OrtEpDevice*> provider_of_device;
inline constexpr PlainFunction<316, const OrtHardwareDevice*, const OrtEpDevice*> hardware_of_device;
inline constexpr Function<397, const OrtEnv*, size_t*> hardware_count;
inline constexpr Function<398, const OrtEnv*, const OrtHardwareDevice**, size_t> hardware_devices;
inline constexpr PlainFunction<92, void, OrtEnv*> release_env;
inline constexpr PlainFunction<93, void, OrtStatus*> release_status;
inline constexpr PlainFunction<94, void, OrtMemoryInfo*> release_memory;
inline constexpr PlainFunction<95, void, OrtSession*> release_session;
inline constexpr PlainFunction<96, void, OrtValue*> release_value;
inline constexpr PlainFunction<97, void, OrtRunOptions*> release_run_options;
inline constexpr PlainFunction<98, void, OrtTypeInfo*> release_type;
inline constexpr PlainFunction<99, void, OrtTensorInfo*> release_tensor_info;
inline constexpr PlainFunction<100, void, OrtSessionOptions*> release_session_options;
inline constexpr PlainFunction<208, void, OrtCudaOptions*> release_cuda_options;
inline constexpr PlainFunction<118, void, OrtModelMetadata*> release_metadata;
}  // namespace api

}  // namespace enginehost::engines::onnxruntime
