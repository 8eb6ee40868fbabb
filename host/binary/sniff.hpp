// What bytes that are no library look like: a login page, an archive, a pointer.
#pragma once
#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

// Names the format of a file that is neither ELF nor PE nor Mach-O in info.sniffed and adds the problem that
// it is.
void sniff(FileView& file, BinaryInfo& info);

}  // namespace enginehost::binary
