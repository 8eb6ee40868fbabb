#include "host/transfer/progress.hpp"

#include <algorithm>

namespace enginehost::transfer {

const char* name_of(Progress::Phase phase) {
  switch (phase) {
    case Progress::Phase::waiting:
      return "waiting";
    case Progress::Phase::asking:
      return "asking";
    case Progress::Phase::downloading:
      return "downloading";
    case Progress::Phase::unpacking:
      return "unpacking";
    case Progress::Phase::checking:
      return "checking";
    case Progress::Phase::publishing:
      return "publishing";
    case Progress::Phase::done:
      return "done";
  }
  return "unknown";
}

void Meter::at(std::uint64_t done, bool now) {
  if (!callback_) return;
  const Clock::time_point time = Clock::now();
  if (!now && time - reported_ < std::chrono::milliseconds(100)) return;
  reported_ = time;
  if (!measuring_) {  // bytes that were there at the start were not transferred
    measuring_ = true;
    measured_ = time;
    measured_at_ = done;
  }
  const double seconds = std::chrono::duration<double>(time - measured_).count();
  if (seconds >= 0.25 && done >= measured_at_) {
    const double rate = static_cast<double>(done - measured_at_) / seconds;
    progress_.bytes_per_second =
        progress_.bytes_per_second == 0 ? rate : 0.7 * progress_.bytes_per_second + 0.3 * rate;
    measured_ = time;
    measured_at_ = done;
  } else if (done < measured_at_) {
    measured_at_ = done;
  }
  progress_.done = std::max(progress_.done, done);
  callback_(progress_);
}

}  // namespace enginehost::transfer
