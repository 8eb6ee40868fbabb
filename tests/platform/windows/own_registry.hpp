// A test's own registry that replaces HKEY_LOCAL_MACHINE in this process during the test.
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
  // Several texts, as devices have for their ids; joined by '|' here.
  OwnRegistry& texts(const std::string& key, const std::string& name, const std::string& values);
  OwnRegistry& number(const std::string& key, const std::string& name, std::uint32_t value);

 private:
  void set(const std::string& key, const std::string& name, unsigned type, const void* bytes,
           std::size_t size);
  std::wstring path_;
  void* key_ = nullptr;
};

}  // namespace enginehost::platform
