#include "base/per_process.hpp"

#include <pthread.h>

namespace enginehost {
namespace {

std::atomic<unsigned> forks{0};

void in_child() { forks.fetch_add(1, std::memory_order_relaxed); }

// When this code is loaded, so that no fork can come between asking and being told.
[[maybe_unused]] const int reported = ::pthread_atfork(nullptr, nullptr, &in_child);

}  // namespace

unsigned generation_of_process() { return forks.load(std::memory_order_relaxed); }

}  // namespace enginehost
