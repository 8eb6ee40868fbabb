// Progress of a long operation.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace enginehost::transfer {

struct Progress {
  enum class Phase { waiting, asking, downloading, unpacking, checking, publishing, done };
  Phase phase = Phase::downloading;
  std::uint64_t done = 0;              // bytes; never decreases within one operation
  std::optional<std::uint64_t> total;  // when known
  double bytes_per_second = 0;         // over the last seconds
  std::string source;  // the URL without credentials, the path, or the process that is waited for
};
const char* name_of(Progress::Phase phase);

// Called from the thread that runs the operation, at most about ten times a second. Must not throw.
using ProgressCallback = std::function<void(const Progress&)>;

}  // namespace enginehost::transfer
