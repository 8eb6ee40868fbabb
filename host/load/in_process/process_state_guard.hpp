// Guards the process state that a plugin's constructors and its create() must leave unchanged.
#pragma once
#include <memory>
#include <vector>

#include "base/diagnosis.hpp"
#include "host/load/in_process/floating_point.hpp"

namespace enginehost::load {

// The program's standard streams: saving them takes a dozen system calls.
enum class Streams { kept, not_looked_at };

// Saves and restores state around such a call: the floating-point mode of this thread, its blocked signals,
// and the files of descriptors 0 to 2. Create and destroy it on the calling thread. If the call forked and
// the child returns, the child exits here, because it would continue as a second program.
class ProcessStateGuard {
 public:
  explicit ProcessStateGuard(Streams streams);
  ProcessStateGuard(const ProcessStateGuard&) = delete;
  ProcessStateGuard& operator=(const ProcessStateGuard&) = delete;
  ~ProcessStateGuard();

  // Call once, after the plugin's call has returned. Restores what was changed and reports it: EH-R08 or
  // EH-R09 with "before" and "after". The texts are the same in every process of the same build.
  std::vector<Diagnosis> restore();

 private:
  struct OfSystem;  // state that only some systems have
  void restore_system(std::vector<Diagnosis>& reported);
  std::unique_ptr<OfSystem> of_system_;
  FloatingPointMode floating_point_;
};

}  // namespace enginehost::load
