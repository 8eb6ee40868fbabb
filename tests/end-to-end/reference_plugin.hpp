// The file that most tests remove, damage or replace.
#pragma once

namespace enginehost::test {

inline constexpr const char* plugin = "libengine_reference.so";

}  // namespace enginehost::test
