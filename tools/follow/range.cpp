#include "base/version_specifier.hpp"
#include "tools/follow/plan.hpp"

namespace enginehost::follow {

bool in_range(std::string_view version, std::string_view range) {
  return VersionSpecifier(range).accepts(version);
}

bool is_range(std::string_view text) {
  return text.find_first_of("<>=!~") != std::string_view::npos && VersionSpecifier(text).problem().empty();
}

}  // namespace enginehost::follow
