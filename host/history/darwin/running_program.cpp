#include "host/history/program.hpp"

#include <mach-o/dyld.h>
#include <mach-o/loader.h>

#include <cstdint>
#include <cstring>

#include "base/files.hpp"
#include "base/process.hpp"

namespace enginehost::history {

// Reads the linker's number for this build of the program (LC_UUID) from memory, because the file may have
// been replaced since.
std::string program_build_id() {
  static constexpr char digits[] = "0123456789abcdef";
  const mach_header* program = ::_dyld_get_image_header(0);
  if (program == nullptr || program->magic != MH_MAGIC_64) return {};
  const auto* at = reinterpret_cast<const char*>(program) + sizeof(mach_header_64);
  for (std::uint32_t i = 0; i < program->ncmds; ++i) {
    load_command command{};
    std::memcpy(&command, at, sizeof command);
    if (command.cmd == LC_UUID) {
      uuid_command uuid{};
      std::memcpy(&uuid, at, sizeof uuid);
      std::string text;
      for (const std::uint8_t byte : uuid.uuid) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
      }
      return text;
    }
    at += command.cmdsize;
  }
  return {};
}

std::string read_program_id() {
  const std::string path = executable_path();
  if (const std::string id = program_build_id(); !id.empty()) return path + " " + id;
  const auto stamp = stamp_of(path);
  if (!stamp) return path;
  return path + " " + std::to_string(stamp->size) + "." + std::to_string(stamp->modified_ns);
}

}  // namespace enginehost::history
