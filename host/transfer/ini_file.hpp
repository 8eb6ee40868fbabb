// The format of pip's configuration files, as Python's configparser reads it (RawConfigParser with its
// defaults).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::transfer {

struct IniEntry {
  std::string section, name, value;  // the name in lower case; lines of a value are joined by '\n'
};

// Returns the entries of all sections in their order. Each section begins with the entries of [DEFAULT].
// Error: EH-N17 ("problem") where Python refuses the file too: a line that is none, a name or a section given
// twice, text that is not UTF-8.
Result<std::vector<IniEntry>> read_ini(std::string_view text);

}  // namespace enginehost::transfer
