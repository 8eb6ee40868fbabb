// The facts of one slice of a Mach-O file by llvm-objdump (load commands), llvm-nm and llvm-readobj
// (symbols), and by our reader, in the same words.
#pragma once
#include <string>

#include "tests/binary/oracle.hpp"

namespace enginehost::binary::oracle {

// The paths of the programs.
struct MachoOracles {
  std::string objdump = llvm_tool("llvm-objdump"), nm = llvm_tool("llvm-nm"),
              readobj = llvm_tool("llvm-readobj");
  bool installed() const { return !objdump.empty() && !nm.empty() && !readobj.empty(); }
};

// `machine` is our name for the slice.
Facts ask_about_macho(const MachoOracles& oracles, const std::string& file, const std::string& machine);
Facts our_macho_facts(const std::string& file, const std::string& machine);
// Makes an expected import of each library: the oracle shortens "/usr/lib/libSystem.B.dylib" to "libSystem".
std::string short_library_name(const std::string& path);

}  // namespace enginehost::binary::oracle
