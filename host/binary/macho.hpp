// Mach-O, the format of macOS libraries, alone or as slices of a universal file.
#pragma once
#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

bool is_macho(FileView& file);
// Reads a Mach-O file (see is_macho()) into `info`, with its problems. `machine` chooses a slice; "" =
// describe all.
void read_macho(FileView& file, std::string_view machine, BinaryInfo& info);

}  // namespace enginehost::binary
