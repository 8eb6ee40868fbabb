// What llvm-objdump (load commands), llvm-nm and llvm-readobj (symbols) say of one slice of a Mach-O file,
// and what our reader says, in the same words.
#pragma once
#include <string>

#include "tests/binary/oracle.hpp"

namespace enginehost::binary::oracle {

// The programs' paths.
struct MachoOracles {
  std::string objdump = llvm_tool("llvm-objdump"), nm = llvm_tool("llvm-nm"),
              readobj = llvm_tool("llvm-readobj");
  bool installed() const { return !objdump.empty() && !nm.empty() && !readobj.empty(); }
};

// `machine` is our word for the slice.
Facts ask_about_macho(const MachoOracles& oracles, const std::string& file, const std::string& machine);
Facts our_macho_facts(const std::string& file, const std::string& machine);
// Makes each library an expectation of an import: the oracle shortens "/usr/lib/libSystem.B.dylib" to
// "libSystem".
std::string short_library_name(const std::string& path);

}  // namespace enginehost::binary::oracle
