// The readers of the formats, and the problems that every format can have.
#pragma once
#include <cstdint>
#include <string_view>

#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

// Content problems that every format can have.

// Returns EH-F08 with a sentence about the problem.
Diagnosis damaged(const FileView& file, std::string_view problem);
// Adds EH-F04 before all other problems and raises info.needed_size to `needed`. `source` is the part of the
// file that requires so many bytes.
void add_truncated(const FileView& file, BinaryInfo& info, std::uint64_t needed, std::string_view source);
// Adds EH-F10 unless info.type is a shared library; `source` is the field that holds the type.
void add_type_problem(const FileView& file, BinaryInfo& info, std::string_view type, std::string_view source);

// Mach-O, the format of macOS libraries, alone or as slices of a universal file.

bool is_macho(FileView& file);
// Reads a Mach-O file (see is_macho()) into `info`, with its problems. `machine` chooses a slice; "" =
// describe all.
void read_macho(FileView& file, std::string_view machine, BinaryInfo& info);

// PE/COFF, the format of Windows libraries: machine, imports, delay imports.

// Reads a file that begins with "MZ" into `info`, with its problems.
void read_pe(FileView& file, BinaryInfo& info);

// Recognition of files that are no libraries: a login page, an archive, a Git LFS pointer.

// Puts the format of a file that is neither ELF, PE nor Mach-O into info.sniffed and adds the matching
// problem.
void sniff(FileView& file, BinaryInfo& info);

}  // namespace enginehost::binary
