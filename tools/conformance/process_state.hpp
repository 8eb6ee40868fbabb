// Process state that a plugin must leave unchanged.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace engineplugin {

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

}  // namespace engineplugin
