// Included in every test: failure classes are compared with their released codes, and printed as these.
#pragma once
#include <ostream>
#include <string_view>

#include "base/failures.hpp"

namespace enginehost {

inline bool operator==(Code code, std::string_view text) { return text_of(code) == text; }
inline std::ostream& operator<<(std::ostream& out, Code code) { return out << text_of(code); }
inline std::ostream& operator<<(std::ostream& out, Key key) { return out << text_of(key); }

}  // namespace enginehost
