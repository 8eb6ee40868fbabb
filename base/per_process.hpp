// Values that a forked child must not share with its parent: locks held by threads that the child lacks, and
// files opened under the parent's identity.
#pragma once
#include <atomic>
#include <mutex>

namespace enginehost {

// Returns a number that no process above this one has: a child of fork() gets a higher one. Where the kernel
// does not clear memory for children (macOS, Linux before 4.14), a child made without the C library's fork()
// has its parent's. Makes no system call. Thread safety: any thread.
unsigned generation_of_process();

// Holds the mutex during every fork, so that a child never finds it locked by a thread that it does not have.
// For one mutex of the process, which is never destroyed. Does nothing on Windows. Thread safety: any thread.
void hold_over_forks(std::mutex& mutex);

// A value created on first use in each process and never destroyed. Thread safety: any thread.
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
    Made* of_parent;  // never freed
    Value value;
  };
  std::atomic<Made*> made_{nullptr};
};

}  // namespace enginehost
