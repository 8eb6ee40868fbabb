// A guard for libraries that convert file names by the locale.
#pragma once
#ifndef _WIN32
#include <locale.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h>  // macOS declares newlocale here
#endif
#endif

namespace enginehost {

#ifdef _WIN32

// Does nothing: names are UTF-16, which represents every name without a locale. Bytes without a declared
// encoding would be read in the code page.
class NamesInUtf8 {
 public:
  static constexpr bool are_by_locale = false;
  NamesInUtf8() {}
};

#else

// While it lives, this thread's locale can represent every name; the host's locale stays unchanged.
// libarchive drops names that the locale cannot represent, and "C" is limited to ASCII.
class NamesInUtf8 {
 public:
  static constexpr bool are_by_locale = true;
  NamesInUtf8() : ours_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (ours_ == nullptr) ours_ = ::newlocale(LC_CTYPE_MASK, "UTF-8", nullptr);  // its name on older macOS
    if (ours_ != nullptr) before_ = ::uselocale(ours_);
  }
  ~NamesInUtf8() {
    if (ours_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(ours_);
  }
  NamesInUtf8(const NamesInUtf8&) = delete;
  NamesInUtf8& operator=(const NamesInUtf8&) = delete;

 private:
  locale_t ours_, before_ = nullptr;
};

#endif

}  // namespace enginehost
