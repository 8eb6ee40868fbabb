#include "host/preflight/native.hpp"

namespace enginehost::preflight {

// What is no library at all is told of by the loader's own rules, too.
bool is_native(binary::Kind kind) { return kind != binary::Kind::pe && kind != binary::Kind::macho; }

Report check_native(const Spec& spec) { return check_elf(spec); }

}  // namespace enginehost::preflight
