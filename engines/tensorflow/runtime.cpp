#include "engines/tensorflow/runtime.hpp"

#ifdef __linux__
#include <link.h>
#include <sys/stat.h>
#endif

#include <map>

#include "engines/support/runtime_library.hpp"
#include "engines/tensorflow/saved_model.hpp"

namespace enginehost::engines::tensorflow {
namespace {

// Locations of the C API: in wheels since 2.12, in the archives of the C library (the last is 2.18), and in
// wheels up to 2.10 in Python's own module, which needs a Python library beside it. On Windows, the wheels of
// 2.21.0 and 2.10.1 have it in libraries that are linked to Python's.
#ifdef _WIN32
constexpr const char* places[] = {"tensorflow/python/_pywrap_tensorflow_common.dll",
                                  "tensorflow/python/_pywrap_tensorflow_internal.pyd"};
#else
constexpr const char* places[] = {"tensorflow/libtensorflow_cc.so.2", "lib/libtensorflow.so.2",
                                  "tensorflow/python/_pywrap_tensorflow_internal.so"};
#endif

std::string locate(const engine_host* host, const char* wanted, engine_call* call) {
  const std::string root = host->root;
  if (wanted != nullptr) return wanted_library(root, "tensorflow.library", wanted, call);
  for (const char* place : places) {
    if (file_exists(root + "/" + place)) return root + "/" + place;
  }
  const std::string first = places[0];
  call->detail(call, "missing_library", first.substr(first.rfind('/') + 1).c_str());
  call->detail(call, "path", host->root);
  std::string all;
  for (const char* one : places) all += (all.empty() ? "" : ", ") + std::string(one);
  throw Failure{ENGINE_CORRUPT,
                "There is no library of TensorFlow below " + root + ". Searched: " + all + "."};
}

#ifdef __linux__
bool same_file(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}
#endif

// All TensorFlow releases use the same library names, and the loader reuses a loaded library for every later
// request of its name. A second release would therefore run with half of the first.
void refuse_a_second_release(const std::string& path, engine_call* call) {
#ifdef __linux__
  void* framework = dlopen("libtensorflow_framework.so.2", RTLD_NOW | RTLD_NOLOAD);
  if (framework == nullptr) return;
  const link_map* loaded = nullptr;
  std::string other;
  if (dlinfo(framework, RTLD_DI_LINKMAP, &loaded) == 0) other = real_path(loaded->l_name);
  dlclose(framework);
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string parent = folder.substr(0, folder.rfind('/'));
  if (same_file(other, folder + "/libtensorflow_framework.so.2") ||
      same_file(other, parent + "/libtensorflow_framework.so.2")) {
    return;
  }
  call->detail(call, "found", other.c_str());
  throw Failure{ENGINE_UNAVAILABLE,
                "Another TensorFlow is in this process (" + other +
                    "); both call their library libtensorflow_framework.so.2, so only one can be used."};
#else
  // The loaders of macOS and Windows distinguish libraries by their path.
  static_cast<void>(path);
  static_cast<void>(call);
#endif
}

#ifdef _WIN32
// A library of Windows is linked to that of Python.
void offer_python(const char*, engine_call*) {}
bool is_own_symbol(void*, const std::string&) { return true; }  // GetProcAddress searches only that file
#else
// Makes Python's symbols visible in the whole process, for a library that is linked to no Python.
void offer_python(const char* name, engine_call* call) {
  if (name == nullptr || dlsym(RTLD_DEFAULT, "PyTuple_Type") != nullptr) return;
  if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  const char* text = dlerror();
  const std::string why = text == nullptr ? "the loader gave no reason" : text;
  report_loader_text(why, call);
  throw Failure{ENGINE_UNAVAILABLE, "This release of TensorFlow needs a library of Python: " + why};
}

// dlsym also searches the library's dependencies; the symbols must come from the requested file.
bool is_own_symbol(void* symbol, const std::string& identity) {
  Dl_info where{};
  return dladdr(symbol, &where) != 0 && real_path(where.dli_fname) == identity;
}
#endif

void find_all(void* handle, Api& api, const std::string& path, engine_call* call) {
#define ENGINEHOST_FIND(name) \
  find_function(handle, #name, api.name, path, "which TensorFlow has since 2.4", call)
  ENGINEHOST_FIND(TF_Version);
  ENGINEHOST_FIND(TF_NewStatus);
  ENGINEHOST_FIND(TF_DeleteStatus);
  ENGINEHOST_FIND(TF_GetCode);
  ENGINEHOST_FIND(TF_Message);
  ENGINEHOST_FIND(TF_NewBuffer);
  ENGINEHOST_FIND(TF_DeleteBuffer);
  ENGINEHOST_FIND(TF_GetAllOpList);
  ENGINEHOST_FIND(TF_GetRegisteredKernelsForOp);
  ENGINEHOST_FIND(TF_NewGraph);
  ENGINEHOST_FIND(TF_DeleteGraph);
  ENGINEHOST_FIND(TF_GraphOperationByName);
  ENGINEHOST_FIND(TF_OperationNumOutputs);
  ENGINEHOST_FIND(TF_NewOperation);
  ENGINEHOST_FIND(TF_SetAttrType);
  ENGINEHOST_FIND(TF_AddInput);
  ENGINEHOST_FIND(TF_FinishOperation);
  ENGINEHOST_FIND(TF_NewSessionOptions);
  ENGINEHOST_FIND(TF_DeleteSessionOptions);
  ENGINEHOST_FIND(TF_SetConfig);
  ENGINEHOST_FIND(TF_NewSession);
  ENGINEHOST_FIND(TF_LoadSessionFromSavedModel);
  ENGINEHOST_FIND(TF_CloseSession);
  ENGINEHOST_FIND(TF_DeleteSession);
  ENGINEHOST_FIND(TF_SessionRun);
  ENGINEHOST_FIND(TF_SessionListDevices);
  ENGINEHOST_FIND(TF_DeleteDeviceList);
  ENGINEHOST_FIND(TF_DeviceListCount);
  ENGINEHOST_FIND(TF_DeviceListName);
  ENGINEHOST_FIND(TF_DeviceListType);
  ENGINEHOST_FIND(TF_NewTensor);
  ENGINEHOST_FIND(TF_AllocateTensor);
  ENGINEHOST_FIND(TF_DeleteTensor);
  ENGINEHOST_FIND(TF_TensorMaybeMove);
  ENGINEHOST_FIND(TF_TensorType);
  ENGINEHOST_FIND(TF_NumDims);
  ENGINEHOST_FIND(TF_Dim);
  ENGINEHOST_FIND(TF_TensorByteSize);
  ENGINEHOST_FIND(TF_TensorData);
  ENGINEHOST_FIND(TF_StringInit);
  ENGINEHOST_FIND(TF_StringCopy);
  ENGINEHOST_FIND(TF_StringGetDataPointer);
  ENGINEHOST_FIND(TF_StringGetSize);
  ENGINEHOST_FIND(TF_StringDealloc);
#undef ENGINEHOST_FIND
}

std::mutex open_mutex;
std::map<std::string, std::shared_ptr<Runtime>>& open_runtimes() {
  static auto* const kept = new std::map<std::string, std::shared_ptr<Runtime>>;
  return *kept;
}

}  // namespace

// A loaded library stays, because its thread pools and registries cannot be removed safely.
std::shared_ptr<Runtime> Runtime::open(const engine_host* host, const Wanted& wanted, engine_call* call) {
  const std::string path = locate(host, wanted.library, call), identity = real_path(path);
  const std::lock_guard lock(open_mutex);
  std::shared_ptr<Runtime>& known = open_runtimes()[identity];
  if (known != nullptr) return known;
  refuse_a_second_release(identity, call);
  offer_python(wanted.python, call);
  void* handle = open_runtime("TensorFlow", path, call);
  std::shared_ptr<Runtime> runtime(new Runtime);
  runtime->path_ = path;
  find_all(handle, runtime->api_, path, call);
  if (!is_own_symbol(reinterpret_cast<void*>(runtime->api_.TF_SessionRun), identity)) {
    call->detail(call, "missing_symbol", "TF_SessionRun");
    call->detail(call, "path", path.c_str());
    throw Failure{ENGINE_UNSUPPORTED, path + " does not export TF_SessionRun itself."};
  }
  known = runtime;
  return runtime;
}

bool Runtime::has_gpu_code() const {
  const Status status(*this);
  TF_Buffer* list = api_.TF_GetRegisteredKernelsForOp("MatMul", status.get());
  const bool found =
      status.code() == 0 && lists_gpu_kernel({static_cast<const char*>(list->data), list->length});
  api_.TF_DeleteBuffer(list);
  return found;
}

const std::set<std::string>& Runtime::stateless() const {
  std::call_once(listed_, [&] {
    TF_Buffer* list = api_.TF_GetAllOpList();
    const std::string bytes(static_cast<const char*>(list->data), list->length);
    api_.TF_DeleteBuffer(list);
    stateless_ = stateless_operations(bytes);
  });
  return stateless_;
}

}  // namespace enginehost::engines::tensorflow
