#include "tools/conformance/loader.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace engineplugin {

const char* const how_opened = "dlopen, now and local";

void* open_library(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }

std::string last_error() {
  const char* text = dlerror();
  return text ? text : "dlopen gave no reason";
}

void close_library(void* library) { dlclose(library); }

bool is_loaded(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr; }

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

std::filesystem::path file_of(const void* address) {
  Dl_info where{};
  return dladdr(address, &where) && where.dli_fname ? where.dli_fname : std::filesystem::path();
}

void* allocate_aligned(std::size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
void release_aligned(void* block) { std::free(block); }

}  // namespace engineplugin
