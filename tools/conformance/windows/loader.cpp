#include "tools/conformance/loader.hpp"

#include <malloc.h>
#include "tools/conformance/paths.hpp"
#include "tools/conformance/windows/system.hpp"

namespace engineplugin {

const char* const how_opened = "LoadLibraryEx, its own folder and the system's";

void* open_library(const std::string& file) {
  return LoadLibraryExW(path_of(file).make_preferred().c_str(), nullptr,
                        LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

std::string last_error() { return "LoadLibraryEx failed with error " + std::to_string(GetLastError()); }

void close_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }

bool is_loaded(const std::string& file) {
  return GetModuleHandleW(path_of(file).make_preferred().c_str()) != nullptr;
}

void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

std::filesystem::path file_of(const void* address) {
  HMODULE module = nullptr;
  wchar_t path[4096];
  if (!GetModuleHandleExW(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          static_cast<LPCWSTR>(address), &module) ||
      GetModuleFileNameW(module, path, 4096) == 0)
    return {};
  return path;
}

void* allocate_aligned(std::size_t bytes) { return _aligned_malloc((bytes + 63) / 64 * 64, 64); }
void release_aligned(void* block) { _aligned_free(block); }

}  // namespace engineplugin
