#include "host/installations/parts.hpp"

namespace enginehost::installations {

std::span<const KnownEngine> known_engines() { return vendor::in_use().engines; }

const KnownEngine* find_engine(std::string_view engine) {
  for (const KnownEngine& one : known_engines())
    if (one.engine == engine) return &one;
  return nullptr;
}

}  // namespace enginehost::installations
