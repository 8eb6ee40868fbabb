#include "base/windows/final_path.hpp"

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::windows {

std::wstring extended_final_path(void* handle) {
  std::wstring path(1024, L'\0');
  for (;;) {
    const DWORD length = ::GetFinalPathNameByHandleW(handle, path.data(), static_cast<DWORD>(path.size()),
                                                     FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    const bool fits = length < path.size();
    path.resize(fits ? length : length + 1);
    if (fits) return path;
  }
}

std::string final_path(void* handle) { return without_prefix(utf8(extended_final_path(handle))); }

std::string without_prefix(const std::string& path) {
  if (path.starts_with("\\\\?\\UNC\\")) return "\\" + path.substr(7);
  return path.starts_with("\\\\?\\") ? path.substr(4) : path;
}

}  // namespace enginehost::windows
