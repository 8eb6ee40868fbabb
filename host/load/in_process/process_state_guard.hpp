// What a plugin's constructors and its create() must leave as they found it.
#pragma once
#include <memory>
#include <vector>

#include "base/diagnosis.hpp"
#include "host/load/in_process/floating_point.hpp"

namespace enginehost::load {

// The program's input and output streams: looking at them takes a dozen system calls.
enum class Streams { kept, not_looked_at };

// Kept over such a call, made and gone on the thread that makes it: how this thread computes, which signals
// it blocks, and where descriptors 0 to 2 lead. A copy of the process that the call made and that comes back
// from it ends here: it would go on as a second program.
class ProcessStateGuard {
 public:
  explicit ProcessStateGuard(Streams streams);
  ProcessStateGuard(const ProcessStateGuard&) = delete;
  ProcessStateGuard& operator=(const ProcessStateGuard&) = delete;
  ~ProcessStateGuard();

  // Once, when the call has come back. Puts back what was changed, and tells it: EH-R08 or EH-R09, with
  // "before" and "after". The texts are the same in every process of the same build.
  std::vector<Diagnosis> restore();

 private:
  struct OfSystem;  // what only some systems have
  void restore_system(std::vector<Diagnosis>& reported);
  std::unique_ptr<OfSystem> of_system_;
  FloatingPointMode floating_point_;
};

}  // namespace enginehost::load
