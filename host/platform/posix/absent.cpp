#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<Metal> detect_metal() { return Fact<Metal>::absent("not macOS"); }

Fact<std::string> detect_vcruntime(const Root&) { return Fact<std::string>::absent("not Windows"); }

}  // namespace enginehost::platform
