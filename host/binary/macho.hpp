// Mach-O, the format of macOS libraries: processors, dylibs, rpaths, the oldest system.
#pragma once
#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

bool is_macho(FileView& file);
// Reads a thin or universal file into `info`, problems included. Of a universal file the first slice's names
// are taken (they agree in practice), `machine` lists all.
void read_macho(FileView& file, BinaryInfo& info);

}  // namespace enginehost::binary
