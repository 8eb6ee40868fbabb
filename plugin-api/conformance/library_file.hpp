// The libraries of this system, read from the disk.
#pragma once
#ifdef _WIN32
#include "windows/pe_exports.hpp"
#else
#include "elf_exports.hpp"
#endif

namespace engineplugin {

#ifdef _WIN32
using LibraryFile = PeFile;
#else
using LibraryFile = ElfFile;
#endif

}  // namespace engineplugin
