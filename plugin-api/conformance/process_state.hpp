// What a plugin must leave as it found it.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace engineplugin {

struct ProcessState {
  static ProcessState now();
  // What differs in `later`, or "".
  std::string difference(const ProcessState& later) const;

  std::string blocked_signals;
  std::vector<std::string> handlers;  // one per signal
  std::string locale, folder;
  std::vector<std::string> environment;
  int rounding = 0;
  // How the thread computes, and the locale it has for itself; 0 and NULL where they are not looked at.
  unsigned sse_mode = 0, x87_mode = 0;
  const void* thread_locale = nullptr;
  unsigned file_mask = 0;
  // Where every open descriptor leads to; empty where files are not opened by number.
  std::map<int, std::string> descriptors;
};

// Threads of this process, from /proc.
int thread_count();

}  // namespace engineplugin
