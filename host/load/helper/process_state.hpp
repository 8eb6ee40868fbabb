// State that all code of a process shares, compared before and after a build's constructors ran.
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
  // Further state of this system, each with the words for it.
  std::vector<std::pair<const char*, std::string>> others;
};

// Reads the current state. Changes nothing.
ProcessState look_at_process();

// Returns EH-R09 for each difference ("changed", "before", "after"). `own` also compares threads and
// descriptors, which a living engine may rightly keep.
std::vector<Diagnosis> differences(const ProcessState& before, const ProcessState& after, bool own);

}  // namespace enginehost::helper
