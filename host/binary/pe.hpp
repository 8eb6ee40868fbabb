// PE/COFF, the format of Windows libraries: machine, imports, delay imports.
#pragma once
#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

// Reads a file that begins with "MZ" into `info`, with its problems.
void read_pe(FileView& file, BinaryInfo& info);

}  // namespace enginehost::binary
