#include "host/load/helper/shared_library.hpp"

#include <dlfcn.h>
#include <mach-o/dyld.h>

#include <cstdint>
#include <filesystem>

namespace enginehost::helper {

// macOS has had no NVIDIA driver since 10.13: the libraries are not found, and the answer reports that.
const char* const cuda_driver_library = "libcuda.dylib";
const char* const nvml_library = "libnvidia-ml.dylib";

SharedLibrary::SharedLibrary(const std::string& name_or_path) {
  handle_ = ::dlopen(name_or_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  const char* text = ::dlerror();
  error_ = text != nullptr ? text : "dlopen gave no reason";
}

// dyld gives one handle for each image: the image whose name opens with this handle is the library.
std::string SharedLibrary::path() const {
  if (handle_ == nullptr) return {};
  for (std::uint32_t i = ::_dyld_image_count(); i-- > 0;) {
    const char* name = ::_dyld_get_image_name(i);
    void* same = name != nullptr ? ::dlopen(name, RTLD_NOLOAD | RTLD_LAZY) : nullptr;
    if (same == nullptr) continue;
    ::dlclose(same);
    if (same != handle_) continue;
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(name, error);
    return error ? std::string(name) : real.native();
  }
  return {};
}

void* SharedLibrary::symbol(const char* name) const {
  return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

}  // namespace enginehost::helper
