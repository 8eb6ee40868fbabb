// The build id of a loaded shared object. Not on macOS.
#pragma once
#include <string>

struct dl_phdr_info;

namespace enginehost {

// Returns the object's GNU build id as hexadecimal digits; "" if it has none. Reads memory, because the file
// may have been replaced since. Thread safety: any thread.
std::string mapped_build_id(const dl_phdr_info& object);

}  // namespace enginehost
