#include "host/linker/machine.hpp"

namespace enginehost::linker {

// Libraries that dyld inserts belong to the Mac (dyld.hpp), not to the machine for judging a Linux build.
std::vector<LoadedLibrary> preloaded_libraries() { return {}; }

}  // namespace enginehost::linker
