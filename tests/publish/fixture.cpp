#include "tests/publish/fixture.hpp"

namespace enginehost::publish {

fs::path toy_library() { return ENGINEHOST_TOY; }

fs::path reference_plugin() { return ENGINEHOST_REFERENCE_PLUGIN; }

}  // namespace enginehost::publish
