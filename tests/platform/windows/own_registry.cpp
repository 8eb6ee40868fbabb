#include "tests/platform/windows/own_registry.hpp"

#include <stdexcept>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::platform {
namespace {

void must_be_done(LSTATUS status, const char* what) {
  if (status != ERROR_SUCCESS) throw std::runtime_error(std::string(what) + ": " + std::to_string(status));
}

}  // namespace

OwnRegistry::OwnRegistry() : path_(L"Software\\EngineHost test " + std::to_wstring(::GetCurrentProcessId())) {
  HKEY key = nullptr;
  must_be_done(::RegCreateKeyExW(HKEY_CURRENT_USER, path_.c_str(), 0, nullptr, 0, KEY_ALL_ACCESS, nullptr,
                                 &key, nullptr),
               "RegCreateKeyEx");
  key_ = key;
  must_be_done(::RegOverridePredefKey(HKEY_LOCAL_MACHINE, key), "RegOverridePredefKey");
}

OwnRegistry::~OwnRegistry() {
  ::RegOverridePredefKey(HKEY_LOCAL_MACHINE, nullptr);
  ::RegCloseKey(static_cast<HKEY>(key_));
  ::RegDeleteTreeW(HKEY_CURRENT_USER, path_.c_str());
}

OwnRegistry& OwnRegistry::text(const std::string& key, const std::string& name, const std::string& value) {
  const std::wstring wide = windows::wide(value);
  set(key, name, REG_SZ, wide.c_str(), (wide.size() + 1) * sizeof(wchar_t));
  return *this;
}

OwnRegistry& OwnRegistry::texts(const std::string& key, const std::string& name, const std::string& values) {
  std::wstring wide = windows::wide(values) + L"|";
  for (wchar_t& one : wide)
    if (one == L'|') one = 0;
  set(key, name, REG_MULTI_SZ, wide.c_str(), (wide.size() + 1) * sizeof(wchar_t));
  return *this;
}

OwnRegistry& OwnRegistry::number(const std::string& key, const std::string& name, std::uint32_t value) {
  set(key, name, REG_DWORD, &value, sizeof value);
  return *this;
}

void OwnRegistry::set(const std::string& key, const std::string& name, unsigned type, const void* bytes,
                      std::size_t size) {
  HKEY opened = nullptr;
  must_be_done(::RegCreateKeyExW(static_cast<HKEY>(key_), windows::wide(key).c_str(), 0, nullptr, 0,
                                 KEY_ALL_ACCESS, nullptr, &opened, nullptr),
               "RegCreateKeyEx");
  must_be_done(::RegSetValueExW(opened, windows::wide(name).c_str(), 0, type, static_cast<const BYTE*>(bytes),
                                static_cast<DWORD>(size)),
               "RegSetValueEx");
  ::RegCloseKey(opened);
}

}  // namespace enginehost::platform
