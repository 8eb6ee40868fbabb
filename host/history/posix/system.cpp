#include <sys/resource.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#else
#include <link.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/process.hpp"
#include "base/text.hpp"
#include "host/history/program.hpp"
#include "host/history/store.hpp"

namespace enginehost::history {

Fingerprint process_limits() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return {};
  return {{std::string(stack_part), limit.rlim_cur == RLIM_INFINITY
                                        ? std::string("unlimited")
                                        : std::to_string(limit.rlim_cur / 1024) + " KiB"}};
}

#ifdef __APPLE__

// Reads the linker's number for this build of the program (LC_UUID) from memory, because the file may have
// been replaced since.
std::string program_build_id() {
  const mach_header* program = ::_dyld_get_image_header(0);
  if (program == nullptr || program->magic != MH_MAGIC_64) return {};
  const auto* at = reinterpret_cast<const char*>(program) + sizeof(mach_header_64);
  for (std::uint32_t i = 0; i < program->ncmds; ++i) {
    load_command command{};
    std::memcpy(&command, at, sizeof command);
    if (command.cmd == LC_UUID)
      return hex_of({at + offsetof(uuid_command, uuid), sizeof(uuid_command::uuid)});
    at += command.cmdsize;
  }
  return {};
}

#else

std::string program_build_id() {
  std::string id;
  ::dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* into) {
        *static_cast<std::string*>(into) = mapped_build_id(*program);
        return 1;  // the first object is the program
      },
      &id);
  return id;
}

#endif

}  // namespace enginehost::history
