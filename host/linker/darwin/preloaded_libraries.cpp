#include "host/linker/machine.hpp"

namespace enginehost::linker {

// What dyld inserts belongs to the Mac (dyld.hpp), not to the machine that a Linux build would be judged for.
std::vector<LoadedLibrary> preloaded_libraries() { return {}; }

}  // namespace enginehost::linker
