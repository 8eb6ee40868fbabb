// Values that a forked child must not take over from its parent: locks that a thread holds which the child
// has not, and what is open under the parent's name.
#pragma once
#include <atomic>

namespace enginehost {

// How many forks lie between this process and the one that loaded this code. Takes no system call; any
// thread. A child that was made without the C library's fork() is not told from its parent.
unsigned generation_of_process();

// Made when it is first asked for, in each process again; never destroyed. Any thread.
template <class Value>
class PerProcess {
 public:
  Value& here() {
    const unsigned now = generation_of_process();
    Made* made = made_.load(std::memory_order_acquire);
    if (made == nullptr || made->generation != now) {
      Made* const fresh = new Made{now, made, {}};
      if (made_.compare_exchange_strong(made, fresh, std::memory_order_acq_rel))
        made = fresh;
      else
        delete fresh;
    }
    return made->value;
  }

 private:
  struct Made {
    unsigned generation;
    Made* of_parent;  // left as it was
    Value value;
  };
  std::atomic<Made*> made_{nullptr};
};

}  // namespace enginehost
