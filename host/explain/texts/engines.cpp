// Messages of engines about missing libraries, drivers and devices: cuDNN, cuBLAS, NVRTC, PyTorch,
// TensorFlow, ONNX Runtime, ggml. The sentences are those of their released versions.
#include "host/explain/texts/reading.hpp"

namespace enginehost::explain::texts {

// cuDNN: Could not load library X. Error: …   Unable to load any of {X, …}   Invalid handle. Cannot load
// symbol S
std::optional<LoaderHint> read_cudnn(std::string_view text) {
  LoaderHint hint;
  hint.code = "EH-R15";
  if (contains(text, "Could not load library ")) {
    const std::string rest = after(text, "Could not load library ");
    hint.subject = until(until(rest, ". Error"), "; dlerror");
    // "… Error: X: symbol f, version libcudnn_ops_infer.so.8 not defined in file …": another version is
    // there.
    if (contains(rest, "undefined symbol") || contains(rest, " not defined in file ")) hint.code = "EH-R16";
    return hint;
  }
  if (contains(text, "Could not load symbol ") && contains(text, "undefined symbol")) {
    hint.code = "EH-R16";
    hint.symbol = between(text, "Could not load symbol ", ".");
    hint.subject = until(between(text, "Error: ", ": undefined symbol"), ": ");
    return hint;
  }
  if (contains(text, "Unable to load any of {")) {
    hint.subject = until(between(text, "Unable to load any of {", "}"), ",");
    return hint;
  }
  if (contains(text, "Cannot load symbol cudnn")) {
    hint.symbol = until(until(after(text, "Cannot load symbol "), " "), "\n");
    return hint;
  }
  if (contains(text, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH") ||
      contains(text, "CUDNN_STATUS_VERSION_MISMATCH")) {
    hint.code = "EH-R16";
    return hint;
  }
  // PyTorch compares with the version that it was compiled against.
  if (contains(text, "cuDNN version incompatibility")) {
    hint.code = "EH-R16";
    hint.required = between(text, "compiled  against ", " but");
    if (hint.required.empty()) hint.required = between(text, "compiled against ", " but");
    hint.found = until(between(text, "found runtime version ", ". "), "\n");
    return hint;
  }
  if (contains(text, "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED")) return hint;
  return std::nullopt;
}

namespace {

// These sentences name no file.
constexpr Phrase sentences[] = {
    // PyTorch
    {"Found no NVIDIA driver on your system", "EH-G01"},
    {"The NVIDIA driver on your system is too old", "EH-G03"},
    {"Cannot re-initialize CUDA in forked subprocess", "EH-G14"},
    {"No CUDA GPUs are available", "EH-G07"},
    {"Torch not compiled with CUDA enabled", "EH-G16"},
    {"is not compatible with the current PyTorch installation", "EH-G05"},
    // TensorFlow
    {"kernel driver does not appear to be running on this host", "EH-G01"},
    {"does not match DSO version", "EH-G09"},
    {"Cannot dlopen some GPU libraries", "EH-R15"},
    {"TensorFlow library was compiled to use", "EH-L27"},
    // NVML and nvidia-smi
    {"Driver/library version mismatch", "EH-G09"},
    {"couldn't communicate with the NVIDIA driver", "EH-G01"},
    // cuBLAS
    {"CUBLAS_STATUS_ARCH_MISMATCH", "EH-G05"},
    {"CUBLAS_STATUS_ALLOC_FAILED", "EH-G12"},
};

}  // namespace

std::optional<LoaderHint> read_engine(std::string_view text) {
  LoaderHint hint;
  // NVRTC: nvrtc: error: failed to open libnvrtc-builtins.so.11.8.
  if (contains(text, "failed to open libnvrtc-builtins.so")) {
    hint.code = "EH-R15";
    hint.subject =
        until(until("libnvrtc-builtins.so" + after(text, "failed to open libnvrtc-builtins.so"), "\n"), " ");
    while (!hint.subject.empty() && (hint.subject.back() == '.' || hint.subject.back() == ','))
      hint.subject.pop_back();
    return hint;
  }
  // ggml: load_backend: failed to find ggml_backend_init in /x/libggml-cuda.so
  if (contains(text, "failed to find ggml_backend_init in ")) {
    hint.code = "EH-R11";
    hint.subject = until(after(text, "failed to find ggml_backend_init in "), "\n");
    hint.symbol = "ggml_backend_init";
    return hint;
  }
  const Phrase* const known = find_phrase(text, sentences);
  if (known == nullptr) return std::nullopt;
  hint.code = known->code;
  if (known->code == "EH-G03") hint.found = between(text, "(found version ", ")");
  if (known->code == "EH-L27") hint.required = between(text, "compiled to use ", " instructions");
  if (contains(text, "does not match DSO version")) {
    hint.found = between(text, "kernel version ", " does not match");
    hint.required = until(until(after(text, "does not match DSO version "), " "), "\n");
  }
  return hint;
}

}  // namespace enginehost::explain::texts
