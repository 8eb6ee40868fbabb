// The facts of a PE file by llvm-readobj (headers, imports) and llvm-objdump (exports with their forwarders),
// and by our reader, in the same words.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tests/binary/oracle.hpp"

namespace enginehost::binary::oracle {

// By file; a file that the oracle cannot read is not in the map. `readobj` and `objdump` are the programs'
// paths.
std::map<std::string, Facts> ask_about_pe(const std::string& readobj, const std::string& objdump,
                                          const std::vector<std::string>& files);
Facts our_pe_facts(const std::string& file);

}  // namespace enginehost::binary::oracle
