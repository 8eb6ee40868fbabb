// The parts that differ by system: its loader, the state of a process, and a child process that runs the
// checks. And paths as text, UTF-8 on every system.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/conformance/report.hpp"

namespace engineplugin {

inline std::filesystem::path path_of(const std::string& text) {
  return std::u8string(text.begin(), text.end());
}

inline std::string path_text(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

// Describes in a report how the library was opened.
extern const char* const how_opened;
// Returns nullptr on failure; last_error() then returns the reason.
void* open_library(const std::string& file);
std::string last_error();
void close_library(void* library);
bool is_loaded(const std::string& file);
void* find_symbol(void* library, const char* name);
// Returns the file of the library that contains the address; empty when the loader does not know it.
std::filesystem::path file_of(const void* address);

// Allocates at least `bytes` at a multiple of 64; free it with release_aligned.
void* allocate_aligned(std::size_t bytes);
void release_aligned(void* block);

// Process state that a plugin must leave unchanged.
struct ProcessState {
  static ProcessState now();
  // Describes what differs in `later`, or "".
  std::string difference(const ProcessState& later) const;

  std::string blocked_signals;
  std::vector<std::string> handlers;  // one per signal
  std::string locale, folder;
  std::vector<std::string> environment;
  int rounding = 0;
  // The thread's floating-point modes and its own locale; 0 and NULL where they are not read.
  unsigned sse_mode = 0, x87_mode = 0;
  const void* thread_locale = nullptr;
  unsigned file_mask = 0;
  // The file that every open descriptor leads to; empty where files are not opened by number.
  std::map<int, std::string> descriptors;
};

// Threads of this process, from /proc.
int thread_count();

// Runs the checks; called in the child.
using Checks = std::function<void(SharedProgress& progress)>;

struct Supervised {
  std::string end;    // how the process ended, "" as it should
  std::string check;  // the last one begun
  int failures = 0;
  long stdout_bytes = 0;  // bytes that it wrote to standard output until its very end
};

// Runs the checks in a child, which ends as a program does, because exit handlers of the plugin are part of
// the checks. Each check has `seconds`. Prints the child's lines as they come; its standard output is a
// separate file. `arguments` are this program's. Where a process cannot be forked, the program is started
// again with them, and this function does not return there. `error` states why there is no child.
Supervised supervise(int count, char** arguments, const Checks& checks, int seconds, std::string& error);

// Ends this process at once, and counts it, if it is a copy that the plugin forked and that returned from its
// call. Such a copy would run every check again, and each call could double their number. Call after every
// call into the plugin.
void end_copy();

// Runs the whole command and returns its exit status; main() calls it. The arguments are UTF-8.
int check_command(int count, char** words);

}  // namespace engineplugin
