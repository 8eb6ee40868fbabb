// A registry of a test's own in the place of HKEY_LOCAL_MACHINE, for this process and the length of a test.
#pragma once
#include <cstdint>
#include <string>

namespace enginehost::platform {

class OwnRegistry {
 public:
  OwnRegistry();
  ~OwnRegistry();
  OwnRegistry(const OwnRegistry&) = delete;
  OwnRegistry& operator=(const OwnRegistry&) = delete;

  OwnRegistry& text(const std::string& key, const std::string& name, const std::string& value);
  // Several texts, as devices have for the names they answer to; joined by '|' here.
  OwnRegistry& texts(const std::string& key, const std::string& name, const std::string& values);
  OwnRegistry& number(const std::string& key, const std::string& name, std::uint32_t value);

 private:
  void set(const std::string& key, const std::string& name, unsigned type, const void* bytes,
           std::size_t size);
  std::wstring path_;
  void* key_ = nullptr;
};

}  // namespace enginehost::platform
