// The part of the commands that differs between operating systems: standard streams, the pager, signals.
// stop.
#pragma once
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "base/cancel.hpp"

namespace enginehost::commands {

constexpr int standard_input = 0, standard_error = 2;  // descriptors

bool is_terminal(int descriptor);

// Returns a token that is canceled by Ctrl-C, SIGTERM and the end of the terminal: SIGHUP unless it is
// ignored (nohup), on Windows the end of the session or a closed window. A second Ctrl-C or SIGTERM ends the
// process at once; no build is blamed for that.
CancelToken cancel_on_signal();

// Shows a text in the pager of the terminal and waits until it ends. Returns false if there is no terminal or
// no pager; the caller then prints the text. `on_output`: standard output must be a terminal, too, because
// the caller prints there.
//
// The pager is the command in PAGER, else less, which ends at once if the text fits the screen, else more. On
// Windows, and with TERM=dumb, only PAGER counts. For the main thread.
bool show_in_pager(const std::string& text, bool on_output = false);

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

// Makes files that this process creates readable for all users, and folders enterable, for a cache that all
// users read. For commands that write nothing elsewhere. Call it from the main thread.
void set_system_layer_umask();

// Flushes the output and ends the process, without exit handlers and destructors.
[[noreturn]] void leave_at_once(int status);

// Returns whether this process can start no further thread now. Always false on Windows, where a thread
// cannot be waited for while libraries are loaded.
bool gets_no_thread();

}  // namespace enginehost::commands
