#include <cstdio>

#include "base/windows/system.hpp"
#include "host/history/program.hpp"
#include "host/history/store.hpp"

namespace enginehost::history {

// A program's stack size is in its header, and the caller cannot raise a job's limits.
Fingerprint process_limits() { return {}; }

// Reads the linker's time stamp (or digest) and the size of the image, by which symbol servers distinguish
// two releases of a program. Read from memory, because the file may have been replaced since.
std::string program_build_id() {
  const auto* base = reinterpret_cast<const unsigned char*>(::GetModuleHandleW(nullptr));
  const auto* dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
  const auto* headers = reinterpret_cast<const IMAGE_NT_HEADERS*>(base + dos->e_lfanew);
  char id[24];
  std::snprintf(id, sizeof id, "%08lx%lx", headers->FileHeader.TimeDateStamp,
                headers->OptionalHeader.SizeOfImage);
  return id;
}

}  // namespace enginehost::history
