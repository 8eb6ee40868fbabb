// See base/names_in_utf8.hpp.
#pragma once

namespace enginehost {

// Names are UTF-16 here, which shows every one; no locale is asked.
class NamesInUtf8 {
 public:
  NamesInUtf8() {}
};

}  // namespace enginehost
