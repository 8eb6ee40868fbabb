// Which file a shared object of this process was loaded from, as its linker named it. Not on macOS.
#pragma once
#include <string>

struct dl_phdr_info;

namespace enginehost {

// The GNU build id of its notes, as hexadecimal digits; "" = it has none. Read from memory: the file may have
// been replaced since. Any thread.
std::string mapped_build_id(const dl_phdr_info& object);

}  // namespace enginehost
