#include "host/history/running_program.hpp"

#include <cstdio>

#include "base/process.hpp"
#include "base/windows/system.hpp"

namespace enginehost::history {

// The linker's time stamp (or digest) and the size of the image: as symbol servers tell two releases of a
// program apart. Read from memory: the file may have been replaced since.
std::string read_program_id() {
  const auto* base = reinterpret_cast<const unsigned char*>(::GetModuleHandleW(nullptr));
  const auto* dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
  const auto* headers = reinterpret_cast<const IMAGE_NT_HEADERS*>(base + dos->e_lfanew);
  char id[24];
  std::snprintf(id, sizeof id, "%08lx%lx", headers->FileHeader.TimeDateStamp,
                headers->OptionalHeader.SizeOfImage);
  return executable_path() + " " + id;
}

}  // namespace enginehost::history
