// Calls that may not overlap, made by many threads: one after the other, in the order they came.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost::sdk {

// Any thread. It outlives the turns that are taken.
class Turns {
 public:
  // Ends when it goes.
  class Turn {
   public:
    Turn(Turns* turns, std::list<std::uint64_t>::iterator place) : turns_(turns), place_(place) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), place_(other.place_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->leave(place_);
    }

   private:
    Turns* turns_;
    std::list<std::uint64_t>::iterator place_;
  };

  // Waits for whoever came before; EH-P10 when cancelled before that.
  Result<Turn> take(const std::optional<CancelToken>& cancel);

 private:
  void leave(std::list<std::uint64_t>::iterator place);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::uint64_t> waiting_;  // the first has the turn
  std::uint64_t last_ = 0;
};

}  // namespace enginehost::sdk
