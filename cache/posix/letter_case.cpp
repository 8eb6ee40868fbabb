#include "cache/portable_names.hpp"

#include <cwctype>

namespace enginehost::cache {

// Upper case first, because some letters have several lower-case forms.
char32_t without_case(char32_t point) {
  return static_cast<char32_t>(std::towlower(std::towupper(static_cast<wint_t>(point))));
}

}  // namespace enginehost::cache
