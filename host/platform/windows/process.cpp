#include <cwchar>

#include "base/environment.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/platform/anonymous.hpp"
#include "host/platform/parts.hpp"

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

Identity this_user() {
  Identity identity;
  identity.home = environment_variable("USERPROFILE").value_or("");
  while (!identity.home.empty() && (identity.home.back() == '\\' || identity.home.back() == '/'))
    identity.home.pop_back();
  if (identity.home.size() < 3) identity.home.clear();  // a drive
  identity.user = effective_user();
  // A system account identifies nobody, and its name is an element of many paths.
  const std::string name = to_lower(identity.user);
  if (name == "system" || name == "local service" || name == "network service") identity.user.clear();
  return identity;
}

}  // namespace enginehost::platform
