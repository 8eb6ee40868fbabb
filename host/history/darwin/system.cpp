#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstring>

#include "host/history/program.hpp"
#include "host/history/store.hpp"

namespace enginehost::history {

Fingerprint process_limits() {
  Fingerprint limits;
  const auto add = [&](std::string_view name, auto resource) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) return;
    limits.emplace_back(name, limit.rlim_cur == RLIM_INFINITY
                                  ? std::string("unlimited")
                                  : std::to_string(limit.rlim_cur / 1024) + " KiB");
  };
  add(stack_part, RLIMIT_STACK);
  add(address_space_part, RLIMIT_AS);
  add(data_part, RLIMIT_DATA);
  return limits;
}

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

}  // namespace enginehost::history
