// Thread-local variables at fixed distances from the thread pointer.
#pragma once
#include <filesystem>
#include <optional>

namespace enginehost::binary {

// Whether a loader must give this library's own thread-local variables a place in the static block.
// DF_STATIC_TLS does not tell: it is set, too, where only another library's variables are reached that way.
// Nothing where it cannot be told (the file cannot be read; neither x86-64 nor AArch64). Reads the
// relocations. Any thread.
std::optional<bool> takes_own_static_tls(const std::filesystem::path& file);

}  // namespace enginehost::binary
