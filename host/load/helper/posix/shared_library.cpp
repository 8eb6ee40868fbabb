#include "host/load/helper/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

namespace enginehost::helper {

const char* const cuda_driver_library = "libcuda.so.1";
const char* const nvml_library = "libnvidia-ml.so.1";

SharedLibrary::SharedLibrary(const std::string& name_or_path) {
  handle_ = ::dlopen(name_or_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  const char* text = ::dlerror();
  error_ = text != nullptr ? text : "dlopen gave no reason";
}

std::string SharedLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(map->l_name, error);
  return error ? std::string(map->l_name) : real.native();
}

void* SharedLibrary::symbol(const char* name) const {
  return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

}  // namespace enginehost::helper
