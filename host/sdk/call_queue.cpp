#include "host/sdk/call_queue.hpp"

#include <chrono>

namespace enginehost::sdk {

Result<CallQueue::QueueTurn> CallQueue::take(const std::optional<CancelToken>& cancel) {
  constexpr std::chrono::milliseconds look{20};  // nobody wakes a waiting thread when its token is canceled
  Places own(1);                                 // allocated before the lock
  const Places::iterator place = own.begin();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.splice(waiting_.end(), own);
  }
  // Constructed before the lock and so destroyed after it, because leave() takes the lock again.
  QueueTurn turn(this, place);
  std::unique_lock<std::mutex> lock(mutex_);
  while (waiting_.begin() != place) {
    if (!cancel) {
      place->comes.wait(lock);
      continue;
    }
    if (cancel->canceled()) return fail(diagnose(Code::canceled));
    place->comes.wait_for(lock, look);
  }
  return turn;
}

void CallQueue::leave(Places::iterator place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool had_the_turn = waiting_.begin() == place;
  waiting_.erase(place);
  // Under the lock, because the next thread may give up and remove its place.
  if (had_the_turn && !waiting_.empty()) waiting_.front().comes.notify_one();
}

}  // namespace enginehost::sdk
