#include "host/linker/loader_rules.hpp"

#include <charconv>
#include <string>

#include "base/text.hpp"

namespace enginehost::linker {

// glibc reads decimal, 0x and 0 numbers (elf/dl-minimal.c, _dl_strtoul); the last assignment counts.
std::optional<std::uint64_t> tunable(std::string_view tunables, std::string_view name) {
  std::optional<std::uint64_t> value;
  for (const std::string& entry : split(tunables, ':')) {
    if (!entry.starts_with(name) || entry.size() <= name.size() || entry[name.size()] != '=') continue;
    std::string_view digits = std::string_view(entry).substr(name.size() + 1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
      digits.remove_prefix(2);
    } else if (digits.starts_with("0")) {
      base = 8;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty()) value = number;
  }
  return value;
}

}  // namespace enginehost::linker
