// The fuzzer's bytes as a file, because the readers open files.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace enginehost::fuzz {

// One file in memory serves all inputs; its path can be opened any number of times.
inline std::filesystem::path as_file(const std::uint8_t* data, std::size_t size) {
  static const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, 0) != 0) std::abort();
  for (std::size_t written = 0; written < size;) {
    const ssize_t part = ::pwrite(descriptor, data + written, size - written, static_cast<off_t>(written));
    if (part <= 0) std::abort();
    written += static_cast<std::size_t>(part);
  }
  return "/proc/self/fd/" + std::to_string(descriptor);
}

// Aborts unless a promise holds, so that the fuzzer reports a broken promise like a crash.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace enginehost::fuzz
