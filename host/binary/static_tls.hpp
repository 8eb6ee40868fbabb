// Thread-local variables at fixed distances from the thread pointer.
#pragma once
#include <filesystem>
#include <optional>

namespace enginehost::binary {

// Returns whether a loader must place this library's own thread-local variables in the static block.
// DF_STATIC_TLS does not show that, because it is also set for access to another library's variables. Returns
// nothing if unknown: the file cannot be read, or is neither x86-64 nor AArch64. Reads the relocations.
// Thread safety: any thread.
std::optional<bool> takes_own_static_tls(const std::filesystem::path& file);

}  // namespace enginehost::binary
