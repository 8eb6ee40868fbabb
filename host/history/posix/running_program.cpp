#include <link.h>

#include "base/files.hpp"
#include "base/process.hpp"
#include "host/history/program.hpp"

namespace enginehost::history {

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

std::string read_program_id() {
  const std::string path = executable_path();
  if (const std::string id = program_build_id(); !id.empty()) return path + " " + id;
  const auto stamp = stamp_of("/proc/self/exe");
  if (!stamp) return path;
  return path + " " + std::to_string(stamp->size) + "." + std::to_string(stamp->modified_ns);
}

}  // namespace enginehost::history
