#include "base/process.hpp"

#include "base/windows/system.hpp"
// After <windows.h>, which it needs.
#include <bcrypt.h>

#include <algorithm>
#include <string>

#include "base/files.hpp"
#include "base/windows/system.hpp"

namespace enginehost {
namespace {

std::filesystem::path folder_of_module(HMODULE module) {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = ::GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
    if (length < path.size()) {
      path.resize(length);
      return std::filesystem::path(path).parent_path();
    }
    path.resize(path.size() * 2);
  }
}

}  // namespace

void fill_with_random_bytes(unsigned char* into, std::size_t size) {
  while (size > 0) {
    const auto part = static_cast<ULONG>(std::min<std::size_t>(size, 1u << 20));
    if (::BCryptGenRandom(nullptr, into, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG) < 0) {
      ::Sleep(1);
      continue;
    }
    into += part;
    size -= part;
  }
}

std::filesystem::path executable_folder() { return folder_of_module(nullptr); }

std::filesystem::path library_folder() {
  HMODULE module = nullptr;
  ::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                       reinterpret_cast<LPCWSTR>(&library_folder), &module);
  return folder_of_module(module);
}

}  // namespace enginehost
