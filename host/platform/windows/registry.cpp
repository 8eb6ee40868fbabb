#include "host/platform/windows/system.hpp"

#include <algorithm>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::platform::registry {
namespace {

constexpr DWORD longest_name = 16384;  // "Registry element size limits": 16383 characters of a value's name

class Key {
 public:
  explicit Key(const std::string& path) {
    if (::RegOpenKeyExW(HKEY_LOCAL_MACHINE, windows::wide(path).c_str(), 0, KEY_READ | KEY_WOW64_64KEY,
                        &key_) != ERROR_SUCCESS)
      key_ = nullptr;
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key() {
    if (key_ != nullptr) ::RegCloseKey(key_);
  }
  bool valid() const { return key_ != nullptr; }
  HKEY get() const { return key_; }

  // RegGetValueW adds the terminating zero if the registry has none.
  std::optional<std::string> text(const std::wstring& name) const {
    std::wstring value(256, L'\0');
    for (;;) {
      auto size = static_cast<DWORD>(value.size() * sizeof(wchar_t));
      const LSTATUS status =
          ::RegGetValueW(key_, nullptr, name.c_str(), RRF_RT_REG_SZ, nullptr, value.data(), &size);
      if (status == ERROR_SUCCESS) return windows::utf8(value.c_str());
      if (status != ERROR_MORE_DATA) return std::nullopt;
      value.resize(std::max<std::size_t>(size / sizeof(wchar_t) + 1, value.size() * 2));
    }
  }

 private:
  HKEY key_ = nullptr;
};

}  // namespace

std::optional<std::string> text(const std::string& key, const std::string& name) {
  const Key opened(key);
  return opened.valid() ? opened.text(windows::wide(name)) : std::nullopt;
}

std::optional<std::uint32_t> number(const std::string& key, const std::string& name) {
  const Key opened(key);
  DWORD value = 0, size = sizeof value;
  if (!opened.valid() || ::RegGetValueW(opened.get(), nullptr, windows::wide(name).c_str(), RRF_RT_REG_DWORD,
                                        nullptr, &value, &size) != ERROR_SUCCESS)
    return std::nullopt;
  return value;
}

std::vector<std::string> keys_below(const std::string& key) {
  std::vector<std::string> names;
  const Key opened(key);
  if (!opened.valid()) return names;
  for (DWORD i = 0;; ++i) {
    wchar_t name[256];  // 255 characters at most
    DWORD size = 256;
    if (::RegEnumKeyExW(opened.get(), i, name, &size, nullptr, nullptr, nullptr, nullptr) != ERROR_SUCCESS)
      break;
    names.push_back(windows::utf8({name, size}));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::pair<std::string, std::string>> texts_of(const std::string& key) {
  std::vector<std::pair<std::string, std::string>> texts;
  const Key opened(key);
  if (!opened.valid()) return texts;
  std::wstring name(longest_name, L'\0');
  for (DWORD i = 0;; ++i) {
    DWORD size = longest_name, type = 0;
    const LSTATUS status =
        ::RegEnumValueW(opened.get(), i, name.data(), &size, nullptr, &type, nullptr, nullptr);
    if (status != ERROR_SUCCESS) break;
    if (type != REG_SZ) continue;
    const std::wstring found = name.substr(0, size);
    if (auto value = opened.text(found)) texts.emplace_back(windows::utf8(found), std::move(*value));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace enginehost::platform::registry
