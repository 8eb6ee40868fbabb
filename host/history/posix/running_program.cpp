#include <elf.h>
#include <link.h>

#include <cstring>

#include "base/files.hpp"
#include "base/process.hpp"
#include "host/history/program.hpp"
#include "host/history/running_program.hpp"

namespace enginehost::history {
namespace {

constexpr std::size_t longest_id = 64;

// A note is a header of three words, its owner's name and its content, the latter two padded to 4 bytes.
std::string build_id_in(const char* notes, std::size_t size) {
  static constexpr char digits[] = "0123456789abcdef";
  const auto padded = [](std::size_t length) { return (length + 3) & ~std::size_t{3}; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const std::size_t name = at + sizeof header, content = name + padded(header.n_namesz);
    if (content + header.n_descsz > size) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0 && header.n_descsz <= longest_id) {
      std::string text;
      for (std::size_t i = 0; i < header.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(notes[content + i]);
        text += digits[byte >> 4];
        text += digits[byte & 15];
      }
      return text;
    }
    at = content + padded(header.n_descsz);
  }
  return {};
}

// The first object is the program itself. Read from memory: the file may have been replaced since.
int find_build_id(dl_phdr_info* object, std::size_t, void* into) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    auto& id = *static_cast<std::string*>(into);
    if (header.p_type == PT_NOTE && id.empty())
      id = build_id_in(reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return 1;
}

}  // namespace

std::string program_build_id() {
  std::string id;
  ::dl_iterate_phdr(&find_build_id, &id);
  return id;
}

std::string read_program_id() {
  const std::string path = executable_path();
  if (const std::string id = program_build_id(); !id.empty()) return path + " " + id;
  const auto stamp = stamp_of("/proc/self/exe");
  if (!stamp) return path;
  return path + " " + std::to_string(stamp->size) + "." + std::to_string(stamp->modified_ns);
}

}  // namespace enginehost::history
