// What all code of a process shares, looked at before and after a stranger's constructors ran.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::helper {

struct ProcessState {
  std::array<const void*, 65> handlers{};  // by signal number
  std::string locale, folder, umask;
  std::size_t descriptors = 0, threads = 0;
  // What else this system has, by the words for it.
  std::vector<std::pair<const char*, std::string>> others;
};

// The state now. Changes nothing.
ProcessState look_at_process();

// EH-R09 for each difference ("changed", "before", "after"). `own` also compares what an engine may well keep
// while it lives, threads and descriptors.
std::vector<Diagnosis> differences(const ProcessState& before, const ProcessState& after, bool own);

}  // namespace enginehost::helper
