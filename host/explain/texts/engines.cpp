// Messages of engines about missing libraries, drivers and devices: cuDNN, cuBLAS, NVRTC, PyTorch,
// TensorFlow, ONNX Runtime, ggml. The sentences are those of their released versions.
#include "base/text.hpp"
#include "host/explain/texts/reading.hpp"

namespace enginehost::explain::texts {

// cuDNN: Could not load library X. Error: …   Unable to load any of {X, …}   Invalid handle. Cannot load
// symbol S
std::optional<LoaderHint> read_cudnn(std::string_view text) {
  constexpr Code missing = Code::run_time_library_missing, another_version = Code::cudnn_parts_differ;
  if (contains(text, "Could not load library ")) {
    const std::string rest = after(text, "Could not load library ");
    // "… Error: X: symbol f, version libcudnn_ops_infer.so.8 not defined in file …": another version is
    // there.
    const bool there = contains(rest, "undefined symbol") || contains(rest, " not defined in file ");
    return LoaderHint{.code = there ? another_version : missing,
                      .subject = until(until(rest, ". Error"), "; dlerror")};
  }
  if (contains(text, "Could not load symbol ") && contains(text, "undefined symbol"))
    return LoaderHint{.code = another_version,
                      .subject = until(between(text, "Error: ", ": undefined symbol"), ": "),
                      .symbol = between(text, "Could not load symbol ", ".")};
  if (contains(text, "Unable to load any of {"))
    return LoaderHint{.code = missing, .subject = until(between(text, "Unable to load any of {", "}"), ",")};
  if (contains(text, "Cannot load symbol cudnn"))
    return LoaderHint{.code = missing, .symbol = until(until(after(text, "Cannot load symbol "), " "), "\n")};
  if (contains(text, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH") ||
      contains(text, "CUDNN_STATUS_VERSION_MISMATCH"))
    return LoaderHint{.code = another_version};
  // PyTorch compares with the version that it was compiled against. Some releases write two blanks.
  if (contains(text, "cuDNN version incompatibility")) {
    const std::string required = between(text, "compiled  against ", " but");
    return LoaderHint{.code = another_version,
                      .found = until(between(text, "found runtime version ", ". "), "\n"),
                      .required = required.empty() ? between(text, "compiled against ", " but") : required};
  }
  if (contains(text, "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED")) return LoaderHint{.code = missing};
  return std::nullopt;
}

// MKL 2017 to 2026, OpenMP of LLVM and Intel, protobuf 3 to 24, AddressSanitizer of GCC and LLVM.
std::optional<LoaderHint> read_last_words(std::string_view line, std::string_view before) {
  if (constexpr std::string_view fatal = "MKL FATAL ERROR: Cannot load "; contains(line, fatal)) {
    // The line before may have the loader's reason. The last of the names serves every processor.
    if (auto reason = read_glibc(after(before, "MKL ERROR: "));
        reason && reason->code != Code::file_not_readable)
      return reason;
    std::string names = after(line, fatal);
    if (names.ends_with('.')) names.pop_back();
    return LoaderHint{.code = Code::run_time_library_missing, .subject = names.substr(names.rfind(' ') + 1)};
  }
  if (constexpr std::string_view second = "Error #15: Initializing "; contains(line, second))
    return LoaderHint{.code = Code::two_openmp_runtimes,
                      .subject = between(line, second, ", but found "),
                      .found = between(line, ", but found ", " already initialized")};
  if (constexpr std::string_view twice = "File already exists in database: "; contains(line, twice))
    return LoaderHint{.code = Code::same_proto_file_twice, .found = std::string(trim(after(line, twice)))};
  for (const std::string_view late : {"ASan runtime does not come first", "linked against incompatible ASan",
                                      "AddressSanitizer is loaded too late"})
    if (contains(line, late)) return LoaderHint{.code = Code::sanitizer_loaded_too_late};
  return std::nullopt;
}

namespace {

// These sentences name no file.
constexpr Phrase sentences[] = {
    // PyTorch
    {"Found no NVIDIA driver on your system", Code::driver_not_found},
    {"The NVIDIA driver on your system is too old", Code::driver_too_old},
    {"Cannot re-initialize CUDA in forked subprocess", Code::cuda_after_fork},
    {"No CUDA GPUs are available", Code::no_gpu_visible},
    {"Torch not compiled with CUDA enabled", Code::no_gpu_offered},
    {"is not compatible with the current PyTorch installation", Code::no_code_for_gpu},
    // ONNX Runtime
    {"CUDA execution provider is not enabled in this build", Code::packages_wrote_same_files},
    // TensorFlow
    {"kernel driver does not appear to be running on this host", Code::driver_not_found},
    {"does not match DSO version", Code::driver_and_library_differ},
    {"Cannot dlopen some GPU libraries", Code::run_time_library_missing},
    {"TensorFlow library was compiled to use", Code::processor_too_old},
    // NVML and nvidia-smi
    {"Driver/library version mismatch", Code::driver_and_library_differ},
    {"couldn't communicate with the NVIDIA driver", Code::driver_not_found},
    // cuBLAS
    {"CUBLAS_STATUS_ARCH_MISMATCH", Code::no_code_for_gpu},
    {"CUBLAS_STATUS_ALLOC_FAILED", Code::gpu_busy},
};

}  // namespace

std::optional<LoaderHint> read_engine(std::string_view text) {
  // NVRTC: nvrtc: error: failed to open libnvrtc-builtins.so.11.8.
  if (contains(text, "failed to open libnvrtc-builtins.so")) {
    std::string library = until(until(after(text, "failed to open "), "\n"), " ");
    library.erase(library.find_last_not_of(".,") + 1);
    return LoaderHint{.code = Code::run_time_library_missing, .subject = std::move(library)};
  }
  // TensorRT: Unable to load library: libnvinfer_builder_resource.so.8.4.1) Newer releases add dlopen's text.
  if (constexpr std::string_view unable = "Unable to load library: ";
      contains(text, unable) && !read_glibc(text))
    return LoaderHint{.code = Code::run_time_library_missing,
                      .subject = until(until(after(text, unable), ")"), ":")};
  // CTranslate2: Library libcublas.so.12 is not found or cannot be loaded
  if (constexpr std::string_view absent = " is not found or cannot be loaded";
      contains(text, absent) && contains(text, "Library "))
    return LoaderHint{.code = Code::run_time_library_missing, .subject = between(text, "Library ", absent)};
  // ggml: load_backend: failed to find ggml_backend_init in /x/libggml-cuda.so
  if (constexpr std::string_view lacks = "failed to find ggml_backend_init in "; contains(text, lacks))
    return LoaderHint{.code = Code::not_an_engine_plugin,
                      .subject = until(after(text, lacks), "\n"),
                      .symbol = "ggml_backend_init"};
  const Phrase* const known = find_phrase(text, sentences);
  if (known == nullptr) return std::nullopt;
  LoaderHint hint{.code = known->code};
  if (known->code == Code::driver_too_old) hint.found = between(text, "(found version ", ")");
  if (known->code == Code::processor_too_old)
    hint.required = between(text, "compiled to use ", " instructions");
  if (contains(text, "does not match DSO version")) {
    hint.found = between(text, "kernel version ", " does not match");
    hint.required = until(until(after(text, "does not match DSO version "), " "), "\n");
  }
  return hint;
}

}  // namespace enginehost::explain::texts

namespace enginehost::explain {
namespace {

struct ScarcityPhrase {
  std::string_view text, resource;
};
// Compared in lower case.
constexpr ScarcityPhrase scarcities[] = {
    {"pthread_create failed", "threads"},                 // ONNX Runtime, OpenBLAS, MediaPipe
    {"pthread_create: resource temporarily", "threads"},  // older OpenBLAS
    {"pthread_create() failed", "threads"},               // TensorFlow
    {"thread creation failed", "threads"},                // libgomp
    {"necessary resources for omp thread", "threads"},    // OpenMP of LLVM and Intel
    {"can't start new thread", "threads"},                // Python
    {"thread constructor failed", "threads"},             // libc++
    {"std::bad_alloc", "memory"},
    {"cannot allocate memory", "memory"},
    {"can't allocate memory", "memory"},  // PyTorch's allocator
    {"too many open files", "files"},
};

}  // namespace

std::optional<LoaderHint> read_limit_text(std::string_view text) {
  const std::string lower = to_lower(text);
  // libstdc++ names nothing else when no thread can be started (std::system_error).
  if (trim(lower) == "resource temporarily unavailable")
    return LoaderHint{.code = Code::limit_stopped_engine, .resource = "threads"};
  for (const ScarcityPhrase& one : scarcities)
    if (texts::contains(lower, one.text))
      return LoaderHint{.code = Code::limit_stopped_engine, .resource = std::string(one.resource)};
  return std::nullopt;
}

}  // namespace enginehost::explain
