#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <string>
#include <vector>

#include "tools/conformance/system.hpp"

namespace {

std::string utf8(const wchar_t* wide) {
  const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, nullptr, 0, nullptr, nullptr);
  if (size <= 1) return {};
  std::string text(static_cast<std::size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide, -1, text.data(), size, nullptr, nullptr);
  text.pop_back();  // the NUL
  return text;
}

}  // namespace

// wmain for UTF-16 arguments, because the code page that main() would get cannot represent every path.
int wmain(int count, wchar_t** wide) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; i++) texts.push_back(utf8(wide[i]));
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  return engineplugin::check_command(count, words.data());
}
