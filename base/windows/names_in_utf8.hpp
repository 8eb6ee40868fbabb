// See base/names_in_utf8.hpp.
#pragma once

namespace enginehost {

// Names are UTF-16 here, which shows every one; no locale is asked. Bytes whose encoding is not told would be
// taken for the code page's.
class NamesInUtf8 {
 public:
  static constexpr bool are_by_locale = false;
  NamesInUtf8() {}
};

}  // namespace enginehost
