#include "tests/publish/fixture.hpp"

namespace enginehost::publish {

fs::path toy_library() { return ENGINEHOST_TOY; }

fs::path toy_plugin() { return ENGINEHOST_TOY_PLUGIN; }

}  // namespace enginehost::publish
