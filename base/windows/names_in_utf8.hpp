// See base/names_in_utf8.hpp.
#pragma once

namespace enginehost {

// Does nothing: names are UTF-16, which represents every name without a locale. Bytes without a declared
// encoding would be read in the code page.
class NamesInUtf8 {
 public:
  static constexpr bool are_by_locale = false;
  NamesInUtf8() {}
};

}  // namespace enginehost
