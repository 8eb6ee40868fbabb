#include "base/per_process.hpp"

#include <pthread.h>

namespace enginehost {
namespace {

std::atomic<unsigned> forks{0};

void in_child() { forks.fetch_add(1, std::memory_order_relaxed); }

// Registered when this code is loaded, before any fork that could be missed.
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, &in_child);

std::mutex* held = nullptr;

void lock_held() { held->lock(); }
void unlock_held() { held->unlock(); }

}  // namespace

void hold_over_forks(std::mutex& mutex) {
  held = &mutex;
  ::pthread_atfork(&lock_held, &unlock_held, &unlock_held);
}

unsigned generation_of_process() { return forks.load(std::memory_order_relaxed); }

}  // namespace enginehost
