// What llvm-readobj (headers, imports) and llvm-objdump (exports with their forwarders) say of a PE file, and
// what our reader says, in the same words.
#pragma once
#include <string>

#include "tests/binary/oracle.hpp"

namespace enginehost::binary::oracle {

struct PeAnswers {
  bool readable = false;  // the oracle could read the file at all
  Facts ours, theirs;
};

// `readobj` and `objdump` are the programs' paths.
PeAnswers ask_about_pe(const std::string& readobj, const std::string& objdump, const std::string& file);

}  // namespace enginehost::binary::oracle
