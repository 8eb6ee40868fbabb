#include "base/text.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::linker {

std::vector<std::string> split_library_path(std::string_view text) {
  std::string unified(text);
  for (char& c : unified)
    if (c == ';') c = ':';
  return unified.empty() ? std::vector<std::string>{} : split(unified, ':');
}

}  // namespace enginehost::linker
