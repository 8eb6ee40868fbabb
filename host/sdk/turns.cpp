#include "host/sdk/turns.hpp"

#include <chrono>

namespace enginehost::sdk {

Result<Turns::Turn> Turns::take(const std::optional<CancelToken>& cancel) {
  constexpr std::chrono::milliseconds look{20};  // nobody wakes who waits when a token is cancelled
  std::unique_lock<std::mutex> lock(mutex_);
  const std::uint64_t own = ++last_;
  const auto place = waiting_.insert(waiting_.end(), own);
  Turn turn(this, place);
  while (waiting_.front() != own) {
    if (cancel && cancel->cancelled()) {
      lock.unlock();  // leaving takes it again
      return fail(diagnose("EH-P10"));
    }
    changed_.wait_for(lock, look);
  }
  return turn;
}

void Turns::leave(std::list<std::uint64_t>::iterator place) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.erase(place);
  }
  changed_.notify_all();
}

}  // namespace enginehost::sdk
