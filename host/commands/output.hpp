// Standard output of a command, to which loaded code may write too.
#pragma once
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace enginehost::commands {

// Redirects standard output of this process to standard error, except for documents(): --json promises one
// document and nothing else. Call it from the first thread.
void keep_output_for_documents();

// Returns the original standard output, for documents.
std::FILE* documents();

// The regular file that a stream writes to: its name as UTF-8 and its size. Both are unset for a pipe, a
// console or a device.
struct OutputFile {
  std::string name;
  std::optional<std::uint64_t> size;
};
OutputFile file_behind(std::FILE* stream);

// Flushes the output and ends the process, without exit handlers and destructors.
[[noreturn]] void leave_at_once(int status);

}  // namespace enginehost::commands
