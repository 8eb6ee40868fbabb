// The libraries of this system, read from the disk.
#pragma once
#ifdef _WIN32
#include "tools/conformance/windows/pe_exports.hpp"
#else
#include "tools/conformance/elf_exports.hpp"
#endif

namespace engineplugin {

#ifdef _WIN32
using LibraryFile = PeFile;
#else
using LibraryFile = ElfFile;
#endif

}  // namespace engineplugin
