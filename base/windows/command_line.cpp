#include "base/windows/command_line.hpp"

#include <algorithm>
#include <cwchar>
#include <filesystem>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "base/windows/file_calls.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::windows {
namespace {

std::wstring one_argument(std::wstring_view argument) {
  if (!argument.empty() && argument.find_first_of(L" \t\n\v\"") == std::wstring_view::npos)
    return std::wstring(argument);
  std::wstring text = L"\"";
  for (std::size_t at = 0;; ++at) {
    std::size_t backslashes = 0;
    for (; at < argument.size() && argument[at] == L'\\'; ++at) ++backslashes;
    if (at == argument.size()) {
      text.append(2 * backslashes, L'\\');  // before the closing quotation mark
      break;
    }
    if (argument[at] == L'"') backslashes = 2 * backslashes + 1;
    text.append(backslashes, L'\\');
    text += argument[at];
  }
  return text + L'"';
}

bool same_name(std::wstring_view left, std::wstring_view right) {
  return ::CompareStringOrdinal(left.data(), static_cast<int>(left.size()), right.data(),
                                static_cast<int>(right.size()), TRUE) == CSTR_EQUAL;
}

// Variables like "=C:=C:\folder" begin with "=".
std::wstring_view name_in(std::wstring_view entry) { return entry.substr(0, entry.find(L'=', 1)); }

}  // namespace

std::wstring command_line(const std::vector<std::string>& argv) {
  std::wstring line;
  for (const std::string& argument : argv) {
    if (!line.empty()) line += L' ';
    line += line.empty() ? L'"' + wide(argument) + L'"' : one_argument(wide(argument));
  }
  return line;
}

std::wstring environment_block(const std::vector<std::string>& changes) {
  std::vector<std::wstring> wanted;
  for (const std::string& change : changes) wanted.push_back(wide(change));
  std::wstring block;
  if (wchar_t* const own = ::GetEnvironmentStringsW(); own != nullptr) {
    for (const wchar_t* entry = own; *entry != 0; entry += std::wcslen(entry) + 1) {
      const bool changed = std::any_of(wanted.begin(), wanted.end(), [&](const std::wstring& change) {
        return same_name(name_in(change), name_in(entry));
      });
      if (!changed) block.append(entry).push_back(L'\0');
    }
    ::FreeEnvironmentStringsW(own);
  }
  for (const std::wstring& change : wanted)
    if (change.find(L'=', 1) != std::wstring::npos) block.append(change).push_back(L'\0');
  // An empty block also ends with two zeros.
  if (block.empty()) block.push_back(L'\0');
  block.push_back(L'\0');
  return block;
}

std::wstring find_program(std::string_view name) {
  const bool is_path = name.find_first_of("\\/:") != std::string_view::npos;
  const auto is_file = [](const std::wstring& path) {
    const DWORD attributes = ::GetFileAttributesW(path.c_str());
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
  };
  const auto with_ending = [&](const std::wstring& path) {
    if (is_file(path)) return path;
    if (!std::filesystem::path(path).has_extension() && is_file(path + L".exe")) return path + L".exe";
    return std::wstring();
  };
  if (is_path) return with_ending(calls::Name(std::string(name)).for_call());
  for (const std::string& folder : split(environment_variable("PATH").value_or(""), ';')) {
    if (folder.empty()) continue;
    if (std::wstring found = with_ending((std::filesystem::path(wide(folder)) / wide(name)).native());
        !found.empty())
      return found;
  }
  return {};
}

}  // namespace enginehost::windows
