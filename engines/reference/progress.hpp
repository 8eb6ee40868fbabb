// Progress of a long operation.
#pragma once
#include "engines/support/text.hpp"

namespace enginehost::engines::reference {

// Reports the progress of a long operation to the caller and checks for cancellation. One thread.
class Progress {
 public:
  Progress(engine_call* call, const char* stage, uint64_t total)
      : call_(call), stage_(stage), total_(total) {}
  // Returns false once the caller has canceled: stop, and return canceled().
  bool advance(uint64_t by) {
    done_ += by;
    call_->progress(call_, done_ < total_ ? done_ : total_, total_, stage_);
    return call_->is_cancelled(call_) == 0;
  }
  engine_status canceled() {
    return refuse(call_, ENGINE_CANCELLED, "reference",
                  Text{} << "The operation was stopped in " << stage_ << ".");
  }
  engine_call* call() const { return call_; }

 private:
  engine_call* call_;
  const char* stage_;
  uint64_t done_ = 0, total_;
};

}  // namespace enginehost::engines::reference
