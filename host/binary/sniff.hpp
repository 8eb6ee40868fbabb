// Recognition of files that are no libraries: a login page, an archive, a Git LFS pointer.
#pragma once
#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

// Puts the format of a file that is neither ELF, PE nor Mach-O into info.sniffed and adds the matching
// problem.
void sniff(FileView& file, BinaryInfo& info);

}  // namespace enginehost::binary
