// One exported name of a library.
#pragma once
#include <cstdint>
#include <string>

namespace engineplugin {

struct Export {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // 0 if the format has no sizes
};

}  // namespace engineplugin
