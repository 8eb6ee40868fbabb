// A number with its noun: "1 build", "3 builds".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace enginehost {

inline std::string pluralize(std::uint64_t number, std::string_view one, std::string_view several) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : several);
}

}  // namespace enginehost
