#include "engines/pytorch/cuda_part.hpp"

#include <ATen/Context.h>
#include <dlfcn.h>
#include <unistd.h>

namespace enginehost::engines::pytorch {
namespace {

// The CPU and CUDA wheels of a release share one plugin, so the plugin must not need this library by name.
constexpr const char* file_name = "libtorch_cuda.so";

std::string folder_of_libtorch() {
  Dl_info info{};
  // Any function that libtorch_cpu defines will do; at::globalContext is in every release.
  if (dladdr(reinterpret_cast<void*>(&at::globalContext), &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string file = info.dli_fname;
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "" : file.substr(0, slash + 1);
}

std::string load() {
  const std::string folder = folder_of_libtorch();
  const std::string file = folder + file_name;
  if (folder.empty() || access(file.c_str(), F_OK) != 0) return "";
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nullptr) return "";
  const char* said = dlerror();
  return said == nullptr ? file + " was refused without a reason" : said;
}

}  // namespace

std::string load_cuda_part() {
  static const std::string problem = load();
  return problem;
}

}  // namespace enginehost::engines::pytorch
