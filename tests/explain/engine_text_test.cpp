// Messages of engines, of the CUDA runtime and of Windows, as people paste them into reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"

namespace enginehost::explain {
namespace {

struct Case {
  const char *text, *code, *subject, *number;
};

void expect_read(const Case& one) {
  const auto hint = read_engine_text(one.text);
  ASSERT_TRUE(hint) << one.text;
  EXPECT_EQ(hint->code, one.code) << one.text;
  EXPECT_EQ(hint->subject, one.subject) << one.text;
  EXPECT_EQ(hint->number, one.number) << one.text;
  Diagnosis diagnosis = to_diagnosis(*hint, one.text);
  ASSERT_NE(find(one.code), nullptr) << one.code;
  EXPECT_FALSE(render(diagnosis).cause.empty()) << one.text;
  EXPECT_FALSE(render(diagnosis).remedy.empty()) << one.text;
}

struct LimitCase {
  const char *text, *resource;  // empty: no limit
};

// Texts of released engines, as bug reports quote them.
constexpr LimitCase limits[] = {
    {"/onnxruntime_src/onnxruntime/core/platform/posix/env.cc:181 onnxruntime::{anonymous}::PosixThread::"
     "PosixThread(const char*, int) pthread_create failed, error code: 11 error msg: Resource temporarily "
     "unavailable",
     "threads"},
    {"OpenBLAS blas_thread_init: pthread_create failed for thread 50 of 64: Resource temporarily unavailable",
     "threads"},
    {"OpenBLAS blas_thread_init: pthread_create: Resource temporarily unavailable", "threads"},
    {"libgomp: Thread creation failed: Resource temporarily unavailable", "threads"},
    {"OMP: Error #34: System unable to allocate necessary resources for OMP thread:\nOMP: System error #11: "
     "Resource temporarily unavailable",
     "threads"},
    {"F tensorflow/tsl/platform/default/env.cc:74] Check failed: ret == 0 (11 vs. 0)Thread "
     "tf_data_private_threadpool creation via pthread_create() failed.",
     "threads"},
    {"RuntimeError: can't start new thread", "threads"},
    {"Resource temporarily unavailable", "threads"},
    {"std::bad_alloc", "memory"},
    {"DefaultCPUAllocator: can't allocate memory: you tried to allocate 64000000000 bytes. Error code 12 "
     "(Cannot allocate memory)",
     "memory"},
    {"open /usr/share/weights.bin: Too many open files", "files"},
    {"recv: Resource temporarily unavailable", ""},
    {"CUDA out of memory", ""},
    {"the thread that loads a model failed", ""},
};

TEST(EngineText, NamesTheResourceThatALimitRefused) {
  for (const LimitCase& one : limits) {
    const auto hint = read_limit_text(one.text);
    EXPECT_EQ(hint ? hint->resource : "", one.resource) << one.text;
    if (hint) EXPECT_EQ(hint->code, "EH-P52") << one.text;
  }
}

constexpr Case windows[] = {
    {"OSError: [WinError 126] The specified module could not be found. Error loading "
     "\"C:\\Users\\me\\lib\\site-packages\\torch\\lib\\shm.dll\" or one of its dependencies.",
     "EH-W01", "C:\\Users\\me\\lib\\site-packages\\torch\\lib\\shm.dll", "126"},
    {"OSError: [WinError 127] Die angegebene Prozedur wurde nicht gefunden. Error loading "
     "\"C:\\torch\\lib\\fbgemm.dll\" or one of its dependencies.",
     "EH-W03", "C:\\torch\\lib\\fbgemm.dll", "127"},
    {"OSError: [WinError 193] %1 is not a valid Win32 application: \"C:\\x\\y.dll\"", "EH-W04",
     "C:\\x\\y.dll", "193"},
    {"OSError: [WinError 1114] A dynamic link library (DLL) initialization routine failed. Error loading "
     "\"C:\\t\\c10.dll\" or one of its dependencies.",
     "EH-W05", "C:\\t\\c10.dll", "1114"},
    {"OSError: [WinError 1455] \"C:\\t\\cudnn_cnn_infer64_8.dll\"", "EH-W11",
     "C:\\t\\cudnn_cnn_infer64_8.dll", "1455"},
    {"[WinError 4551] \"C:\\t\\c10.dll\"", "EH-W10", "C:\\t\\c10.dll", "4551"},
    {"[ONNXRuntimeError] : 1 : FAIL : LoadLibrary failed with error 126 \"\" when trying to load "
     "\"C:\\app\\onnxruntime_providers_cuda.dll\"",
     "EH-W01", "C:\\app\\onnxruntime_providers_cuda.dll", "126"},
    {"java.lang.UnsatisfiedLinkError: C:\\Users\\me\\.djl.ai\\nvfuser_codegen.dll: Can't find dependent "
     "libraries",
     "EH-W01", "C:\\Users\\me\\.djl.ai\\nvfuser_codegen.dll", ""},
    {"Could not load library cudnn_cnn_infer64_8.dll. Error code 126", "EH-R15", "cudnn_cnn_infer64_8.dll",
     "126"},
    {"Could not locate zlibwapi.dll. Please make sure it is in your library path!", "EH-R15", "zlibwapi.dll",
     ""},
    {"nvrtc: error: failed to open nvrtc-builtins64_113.dll.", "EH-R15", "nvrtc-builtins64_113.dll", ""},
    {"Exception code 0xC06D007E while calling into \"C:\\a b\\DirectML.dll\"", "EH-W08",
     "C:\\a b\\DirectML.dll", "3228369022"},
    {"\\\\?\\C:\\n\\llama-addon.node is not a valid Win32 application.", "EH-W04", "C:\\n\\llama-addon.node",
     ""},
};

TEST(EngineText, W01W03W04W05W08W10W11AreReadByTheirNumbers) {
  for (const Case& one : windows) expect_read(one);
}

TEST(EngineText, EveryWindowsNumberOfTheCatalogHasItsClass) {
  const std::pair<std::uint32_t, const char*> numbers[] = {
      {126, "EH-W01"},   {127, "EH-W03"}, {193, "EH-W04"},         {998, "EH-W05"},        {1114, "EH-W05"},
      {5, "EH-W09"},     {14, "EH-W11"},  {32, "EH-W09"},          {33, "EH-W09"},         {206, "EH-W12"},
      {225, "EH-W09"},   {577, "EH-W10"}, {1260, "EH-W10"},        {1455, "EH-W11"},       {4551, "EH-W10"},
      {14001, "EH-W12"}, {3, "EH-W12"},   {0xC06D007Eu, "EH-W08"}, {0xC06D007Fu, "EH-W08"}};
  for (const auto& [number, code] : numbers) EXPECT_EQ(class_of_windows_error(number), code) << number;
  EXPECT_EQ(class_of_windows_error(0), "");
  EXPECT_EQ(class_of_windows_error(12345), "");
}

constexpr Case cuda[] = {
    {"CUDA error: no kernel image is available for execution on the device", "EH-G05", "", "209"},
    {"Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
     "NumCudaDevices()? "
     "Error 804: forward compatibility was attempted on non supported HW",
     "EH-G10", "", "804"},
    {"CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=0 ; hostname=x",
     "EH-G03", "", "35"},
    {"CUDA failure 999: unknown error ; GPU=-1", "EH-G13", "", "999"},
    {"ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected", "EH-G07", "", "100"},
    {"failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "EH-G09", "", "803"},
    {"failed call to cuInit: UNKNOWN ERROR (CUDA_ERROR_UNKNOWN)", "EH-G13", "", "999"},
    {"CUDA error: out of memory", "EH-G12", "", "2"},
    {"CUDA error: initialization error", "EH-G14", "", "3"},
    {"cudaErrorSystemNotReady", "EH-G11", "", "802"},
    {"the provided PTX was compiled with an unsupported toolchain.", "EH-G06", "", "222"},
};

TEST(EngineText, G03G05G06G07G09G10G11G12G13G14AreReadFromCudaErrors) {
  for (const Case& one : cuda) expect_read(one);
}

TEST(EngineText, EveryCudaNumberOfTheCatalogHasItsClass) {
  const std::pair<int, const char*> numbers[] = {
      {34, "EH-G02"},  {35, "EH-G03"},  {3, "EH-G14"},   {46, "EH-G12"},  {100, "EH-G07"}, {101, "EH-G07"},
      {2, "EH-G12"},   {209, "EH-G05"}, {214, "EH-G12"}, {221, "EH-G06"}, {222, "EH-G06"}, {223, "EH-G06"},
      {304, "EH-G13"}, {500, "EH-G04"}, {802, "EH-G11"}, {803, "EH-G09"}, {804, "EH-G10"}, {805, "EH-G12"},
      {806, "EH-G12"}, {807, "EH-G12"}, {809, "EH-G12"}, {999, "EH-G13"}};
  for (const auto& [number, code] : numbers) EXPECT_EQ(class_of_cuda_error(number), code) << number;
  EXPECT_EQ(class_of_cuda_error(700), "") << "an illegal address is the kernel's, not the machine's";
}

TEST(EngineText, ANameIsNotReadFromALongerOne) {
  EXPECT_EQ(name_of_cuda_error(719), "CUDA_ERROR_LAUNCH_FAILED");
  EXPECT_EQ(name_of_cuda_error_in("CUDA error: unspecified launch failure"), "CUDA_ERROR_LAUNCH_FAILED");
  EXPECT_EQ(name_of_cuda_error_in("cudaGetDeviceCount() failed. Error 46: busy"),
            "CUDA_ERROR_DEVICE_UNAVAILABLE");
  EXPECT_EQ(name_of_cuda_error_in("CUDA unknown error - this may be due to an environment"),
            "CUDA_ERROR_UNKNOWN");
  EXPECT_EQ(name_of_cuda_error_in("an invalid argument was passed"), "") << "no word of CUDA";
  EXPECT_FALSE(find_cuda_error("cudaErrorInvalidDeviceFunction"));
  EXPECT_FALSE(find_cuda_error("CUDA_ERROR_NOT_FOUND_HERE"));
  ASSERT_TRUE(find_cuda_error("cudaErrorInvalidDevice (101)"));
}

TEST(EngineText, AmbiguousSentencesCountOnlyBesideCuda) {
  EXPECT_FALSE(read_engine_text("the allocator is out of memory"));
  EXPECT_FALSE(read_engine_text("unknown error while reading the model"));
  EXPECT_FALSE(read_engine_text("the model has 35 inputs"));
  EXPECT_FALSE(read_engine_text("file not found: model.dll.txt"));
}

constexpr Case engines[] = {
    {"Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open "
     "shared object "
     "file: No such file or directory",
     "EH-L01", "libcublasLt.so.12", ""},
    {"Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared "
     "object file: "
     "No such file or directory",
     "EH-L01", "libcudart.so.11.0", ""},
    {"Could not load library libcudnn_cnn_infer.so.8. Error: libcudnn_cnn_infer.so.8: cannot open shared "
     "object file: "
     "No such file or directory",
     "EH-R15", "libcudnn_cnn_infer.so.8", ""},
    {"Unable to load any of {libcudnn_graph.so.9.1.0, libcudnn_graph.so.9.1, libcudnn_graph.so.9, "
     "libcudnn_graph.so}",
     "EH-R15", "libcudnn_graph.so.9.1.0", ""},
    {"cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "EH-R16", "", ""},
    {"cuDNN error: CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED", "EH-R15", "", ""},
    {"6: [libLoader.h::DynamicLibrary::50] Error Code 6: Internal Error (Unable to load library: "
     "libnvinfer_builder_resource.so.8.4.1)",
     "EH-R15", "libnvinfer_builder_resource.so.8.4.1", ""},
    {"[error] 6: [libLoader.cpp::nvinfer1::rt::DynamicLibrary::Impl::Impl::288] Error Code 6: Internal Error "
     "(Unable to load library: nvinfer_builder_resource_10.dll)",
     "EH-R15", "nvinfer_builder_resource_10.dll", ""},
    {"RuntimeError: Library libcublas.so.12 is not found or cannot be loaded", "EH-R15", "libcublas.so.12",
     ""},
    {"nvrtc: error: failed to open libnvrtc-builtins.so.11.8.\n  Make sure that it is installed correctly.",
     "EH-R15", "libnvrtc-builtins.so.11.8", ""},
    {"RuntimeError: Found no NVIDIA driver on your system. Please check", "EH-G01", "", ""},
    {"RuntimeError: The NVIDIA driver on your system is too old (found version 11040).", "EH-G03", "", ""},
    {"RuntimeError: Cannot re-initialize CUDA in forked subprocess.", "EH-G14", "", ""},
    {"RuntimeError: No CUDA GPUs are available", "EH-G07", "", ""},
    {"AssertionError: Torch not compiled with CUDA enabled", "EH-G16", "", ""},
    {"kernel version 470.57.2 does not match DSO version 535.104.5 -- cannot find working devices", "EH-G09",
     "", ""},
    {"Failed to initialize NVML: Driver/library version mismatch", "EH-G09", "", ""},
    {"CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "EH-G12", "", ""},
    {"load_backend: failed to find ggml_backend_init in /g/libggml-cuda.so", "EH-R11", "/g/libggml-cuda.so",
     ""},
    {"The TensorFlow library was compiled to use AVX2 instructions, but these aren't available on your "
     "machine.",
     "EH-L27", "", ""},
};

TEST(EngineText, SentencesOfEnginesGiveClassAndSubject) {
  for (const Case& one : engines) expect_read(one);
}

TEST(EngineText, TheNeederIsReadWhereTheMessageNamesIt) {
  EXPECT_EQ(read_engine_text(engines[0].text)->required_by, "libonnxruntime_providers_cuda.so");
  const Diagnosis diagnosis = to_diagnosis(*read_engine_text(engines[0].text), engines[0].text);
  EXPECT_EQ(diagnosis.value(Key::library), "libcublasLt.so.12");
  EXPECT_EQ(diagnosis.value(Key::needed_by), "libonnxruntime_providers_cuda.so");
}

TEST(EngineText, VersionsInAMessageAreKept) {
  const auto skew =
      read_engine_text("kernel version 470.57.2 does not match DSO version 535.104.5 -- cannot");
  ASSERT_TRUE(skew);
  EXPECT_EQ(skew->found, "470.57.2");
  EXPECT_EQ(skew->required, "535.104.5");
  EXPECT_EQ(read_engine_text("The NVIDIA driver on your system is too old (found version 11040).")->found,
            "11040");
}

}  // namespace
}  // namespace enginehost::explain
