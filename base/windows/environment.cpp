#include "base/environment.hpp"

#include <cwchar>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost {

std::optional<std::string> environment_variable(const char* name) {
  const std::wstring wanted = windows::wide(name);
  std::wstring text(256, L'\0');
  for (;;) {
    ::SetLastError(ERROR_SUCCESS);
    const DWORD length =
        ::GetEnvironmentVariableW(wanted.c_str(), text.data(), static_cast<DWORD>(text.size()));
    if (length == 0 && ::GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
    if (length < text.size()) {
      text.resize(length);
      return windows::utf8(text);
    }
    text.resize(length);
  }
}

std::uint64_t environment_digest() {
  std::uint64_t sum = 0x9E3779B97F4A7C15u;
  wchar_t* const block = ::GetEnvironmentStringsW();
  if (block == nullptr) return sum;
  for (const wchar_t* entry = block; *entry != 0; entry += std::wcslen(entry) + 1)
    for (const wchar_t* at = entry;; ++at) {
      sum = (sum ^ static_cast<std::uint64_t>(*at)) * 0xBF58476D1CE4E5B9u;
      sum ^= sum >> 29;
      if (*at == 0) break;
    }
  ::FreeEnvironmentStringsW(block);
  return sum;
}

}  // namespace enginehost
