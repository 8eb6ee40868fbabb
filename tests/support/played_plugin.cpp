#include "tests/support/played_plugin.hpp"

#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

const std::string& played_plugin() {
  static const std::string bytes = read_text(ENGINEHOST_PLAYED_PLUGIN);
  return bytes;
}

const std::string& hanging_plugin() {
  static const std::string bytes = read_text(ENGINEHOST_HANGING_PLUGIN);
  return bytes;
}

}  // namespace enginehost::test
