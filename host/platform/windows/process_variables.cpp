#include <cwchar>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/platform/variables.hpp"

namespace enginehost::platform {

Variables process_variables() {
  Variables variables;
  wchar_t* const block = ::GetEnvironmentStringsW();
  if (block == nullptr) return variables;
  for (const wchar_t* entry = block; *entry != 0; entry += std::wcslen(entry) + 1) {
    const std::wstring_view text = entry;
    // "=C:=C:\folder" are cmd.exe's current folders of the drives.
    const std::size_t equals = text.find(L'=', 1);
    if (text.front() == L'=' || equals == std::wstring_view::npos) continue;
    std::string name = windows::utf8(text.substr(0, equals));
    for (char& letter : name)
      if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    variables.emplace_back(std::move(name), windows::utf8(text.substr(equals + 1)));
  }
  ::FreeEnvironmentStringsW(block);
  return variables;
}

}  // namespace enginehost::platform
