// The file that most tests take away, damage or put another in the place of.
#pragma once

namespace enginehost::test {

inline constexpr const char* plugin = "libengine_reference.so";

}  // namespace enginehost::test
