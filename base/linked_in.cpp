#include "base/linked_in.hpp"

namespace enginehost {

// Weak, so that the definition of a portable build goes before it. Windows has no portable builds.
#ifdef __ELF__
[[gnu::weak]] std::string linked_in() { return {}; }
#else
std::string linked_in() { return {}; }
#endif

}  // namespace enginehost
