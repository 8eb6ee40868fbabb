#include "cache/portable_names.hpp"

#include <cstdint>

#include "base/windows/system.hpp"

namespace enginehost::cache {

// Folds single UTF-16 units, as Windows file systems do; letters outside them keep their case.
char32_t without_case(char32_t point) {
  if (point > 0xffff) return point;
  const auto as_argument = [](char32_t unit) {
    return reinterpret_cast<LPWSTR>(static_cast<std::uintptr_t>(unit));
  };
  const auto upper =
      static_cast<char32_t>(reinterpret_cast<std::uintptr_t>(::CharUpperW(as_argument(point))));
  return static_cast<char32_t>(reinterpret_cast<std::uintptr_t>(::CharLowerW(as_argument(upper))));
}

}  // namespace enginehost::cache
