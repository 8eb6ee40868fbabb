// The names that a shared library needs and exports, as readelf prints them: independent of our own reader.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace enginehost::engines::tests {

struct ElfNames {
  std::vector<std::string> needed, exported;
};

inline std::string output_of(const std::string& command) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> block;
  while (size_t got = std::fread(block.data(), 1, block.size(), pipe.get())) out.append(block.data(), got);
  return out;
}

inline ElfNames read_elf_names(const std::string& path) {
  ElfNames names;
  std::istringstream dynamic(output_of("readelf -dW '" + path + "'")),
      symbols(output_of("readelf --dyn-syms -W '" + path + "'"));
  for (std::string line; std::getline(dynamic, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    size_t open = line.find('['), close = line.find(']');
    names.needed.push_back(line.substr(open + 1, close - open - 1));
  }
  for (std::string line; std::getline(symbols, line);) {
    std::istringstream fields(line);
    std::string number, value, size, type, bind, visibility, section, name;
    fields >> number >> value >> size >> type >> bind >> visibility >> section >> name;
    if (section == "UND" || name.empty() || (bind != "GLOBAL" && bind != "WEAK" && bind != "UNIQUE"))
      continue;
    names.exported.push_back(name.substr(0, name.find('@')));
  }
  return names;
}

}  // namespace enginehost::engines::tests
