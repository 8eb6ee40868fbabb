#include <mach-o/dyld.h>
#include <mach-o/loader.h>

#include <cstdint>
#include <cstring>

#include "host/linker/machine.hpp"

namespace enginehost::linker {
namespace {

// Returns the install name from the load commands in memory, which dyld has checked; empty if there is none.
std::string install_name_of(const mach_header* image) {
  if (image == nullptr || image->magic != MH_MAGIC_64) return {};
  const auto* at = reinterpret_cast<const char*>(image) + sizeof(mach_header_64);
  for (std::uint32_t i = 0; i < image->ncmds; ++i) {
    load_command command{};
    std::memcpy(&command, at, sizeof command);
    if (command.cmd == LC_ID_DYLIB) {
      dylib_command id{};
      std::memcpy(&id, at, sizeof id);
      return at + id.dylib.name.offset;
    }
    at += command.cmdsize;
  }
  return {};
}

}  // namespace

// If another thread unloads a library between the calls, a name is missing or duplicate, which is harmless.
std::vector<LoadedLibrary> loaded_libraries() {
  std::vector<LoadedLibrary> found;
  for (std::uint32_t i = 1; i < ::_dyld_image_count(); ++i)  // the first is the program
    if (const char* path = ::_dyld_get_image_name(i); path != nullptr)
      found.push_back({install_name_of(::_dyld_get_image_header(i)), path});
  return found;
}

}  // namespace enginehost::linker
