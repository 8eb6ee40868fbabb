#include "host/preflight/native.hpp"

namespace enginehost::preflight {

// Files that are no library at all are reported by this loader's rules too.
bool is_native(binary::Kind kind) { return kind != binary::Kind::pe && kind != binary::Kind::macho; }

Report check_native(const Spec& spec) { return check_elf(spec); }

}  // namespace enginehost::preflight
