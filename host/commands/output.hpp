// Standard output, where code that a command loads may write to it, too.
#pragma once
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace enginehost::commands {

// From now on what else writes to standard output in this process arrives on standard error, and documents()
// alone leads where it led: --json promises one document and nothing beside it. From the first thread.
void keep_output_for_documents();

// Where a document goes: standard output as the command was given it.
std::FILE* documents();

// The regular file that a stream leads to: its name as UTF-8 and how long it is. Neither of a pipe, a console
// or a device.
struct OutputFile {
  std::string name;
  std::optional<std::uint64_t> size;
};
OutputFile file_behind(std::FILE* stream);

// Ends the process with what was printed, without running anything more of it or of what it loaded.
[[noreturn]] void leave_at_once(int status);

}  // namespace enginehost::commands
