// A Windows DLL for x86-64 that imports from the named DLLs and does nothing else. It needs no compiler, and
// the imported DLLs need not exist.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace enginehost::preflight {

// Every import is by ordinal 1. The file names link.exe 14.34 (Visual Studio 2022) as its linker.
inline std::string windows_library(const std::vector<std::string>& imports) {
  constexpr std::size_t in_memory = 0x1000, in_file = 0x200, header = 64, optional = header + 24;
  std::string content, bytes(in_file, '\0');
  const auto put = [](std::string& into, std::size_t at, std::size_t size, std::uint64_t value) {
    if (into.size() < at + size) into.resize(at + size, '\0');
    for (std::size_t i = 0; i < size; ++i) into[at + i] = static_cast<char>(value >> (8 * i));
  };
  // One descriptor of 20 bytes for each DLL and one of zeros; then for each DLL its import tables (two
  // copies) and its name.
  const std::size_t table = (imports.size() + 1) * 20;
  content.resize(table, '\0');
  for (std::size_t i = 0; i < imports.size(); ++i) {
    content.resize((content.size() + 7) / 8 * 8, '\0');
    const std::size_t lookup = content.size(), addresses = lookup + 16, name = addresses + 16;
    for (const std::size_t at : {lookup, addresses}) {
      put(content, at, 8, (std::uint64_t{1} << 63) | 1);
      put(content, at + 8, 8, 0);
    }
    content += imports[i] + '\0';
    put(content, i * 20, 4, in_memory + lookup);
    put(content, i * 20 + 12, 4, in_memory + name);
    put(content, i * 20 + 16, 4, in_memory + addresses);
  }
  const std::size_t used = content.size();
  content.resize((used + in_file - 1) / in_file * in_file, '\0');

  bytes.replace(0, 2, "MZ");
  put(bytes, 60, 4, header);
  bytes.replace(header, 2, "PE");
  put(bytes, header + 4, 2, 0x8664);
  put(bytes, header + 6, 2, 1);        // sections
  put(bytes, header + 20, 2, 240);     // of the optional header
  put(bytes, header + 22, 2, 0x2022);  // executable, large addresses, a DLL
  put(bytes, optional, 2, 0x20b);      // PE32+
  put(bytes, optional + 2, 1, 14);     // link.exe's version
  put(bytes, optional + 3, 1, 34);
  put(bytes, optional + 24, 8, 0x180000000);
  put(bytes, optional + 32, 4, in_memory);  // alignment of sections
  put(bytes, optional + 36, 4, in_file);
  put(bytes, optional + 40, 2, 6);  // Windows
  put(bytes, optional + 48, 2, 6);  // its subsystem
  put(bytes, optional + 56, 4, in_memory + (used + in_memory - 1) / in_memory * in_memory);
  put(bytes, optional + 60, 4, in_file);  // of all headers
  put(bytes, optional + 68, 2, 2);        // a program with windows
  put(bytes, optional + 70, 2, 0x160);    // may lie anywhere, data is not run
  put(bytes, optional + 108, 4, 16);      // directories
  put(bytes, optional + 112 + 8, 4, imports.empty() ? 0 : in_memory);
  put(bytes, optional + 112 + 12, 4, imports.empty() ? 0 : table);
  const std::size_t section = optional + 240;
  bytes.replace(section, 6, ".rdata");
  put(bytes, section + 8, 4, used);
  put(bytes, section + 12, 4, in_memory);
  put(bytes, section + 16, 4, content.size());
  put(bytes, section + 20, 4, in_file);
  put(bytes, section + 36, 4, 0x40000040);  // data that is read
  return bytes + content;
}

}  // namespace enginehost::preflight
