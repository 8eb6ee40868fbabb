#include "host/platform/darwin/kernel_values.hpp"

#include <sys/sysctl.h>

#include <cstring>

namespace enginehost::platform::kernel {

std::string text(const char* name) {
  char value[256] = {};
  std::size_t size = sizeof value - 1;
  return ::sysctlbyname(name, value, &size, nullptr, 0) == 0 ? value : std::string();
}

std::optional<std::uint64_t> number(const char* name) {
  unsigned char bytes[8] = {};
  std::size_t size = sizeof bytes;
  if (::sysctlbyname(name, bytes, &size, nullptr, 0) != 0) return std::nullopt;
  // Both processors of Macs are little-endian, so a shorter number is the start of a longer one.
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
  return value;
}

}  // namespace enginehost::platform::kernel
