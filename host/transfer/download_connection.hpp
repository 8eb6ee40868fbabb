// One connection of a download, in its own thread. For download() only.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "host/transfer/download.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {

// A mirror whose place is asked for once, for all connections. Any thread.
class LocatedMirror {
 public:
  explicit LocatedMirror(const Mirror& mirror) : mirror_(mirror) {}
  const std::string& name() const { return mirror_.name; }
  // See fetch_from().
  Result<TransferReport> fetch(UrlRequest request, Sink& sink, const TransferOptions& options,
                               const ProgressCallback& progress, const CancelToken& cancel);

 private:
  // `useless`: the place that this function returned before and that answered 401. It is asked for again
  // unless another connection did.
  Result<std::shared_ptr<const Place>> place(const TransferOptions& options, const CancelToken& cancel,
                                             const std::shared_ptr<const Place>& useless);

  const Mirror& mirror_;
  std::mutex mutex_;
  std::shared_ptr<const Place> place_;
};

// Fetches `range` and ends. Its owner may shorten the range or stop it. The owner calls its functions from
// one thread.
class Connection : public Sink {
 public:
  struct Order {
    std::size_t mirror = 0;
    LocatedMirror* from = nullptr;
    Range range;
    std::uint64_t size = 0;  // of the whole file
    std::string etag;        // from the mirror, or empty
    TransferOptions options;
  };
  // Called from the connection's thread. may_restart: the server sends the whole file again (true: the
  // connection's range is the whole file from now on). on_end: the outcome is available.
  using MayRestart = std::function<Result<bool>()>;

  Connection(Order order, PartSink& sink, MayRestart may_restart, std::function<void()> on_end);
  ~Connection() override;  // stops it and waits

  std::size_t mirror() const { return order_.mirror; }
  std::uint64_t position() const { return position_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t remaining() const { return end_ - std::min<std::uint64_t>(position_, end_); }
  std::uint64_t received() const { return received_; }
  Range range() const { return {begin_, end_}; }
  // Returns where the server stops by itself; may be beyond end().
  std::uint64_t asked_until() const { return order_.range.end; }
  // `end`: at least 1 MiB beyond position(), at most asked_until().
  void end_at(std::uint64_t end) { end_ = end; }
  void stop(bool for_slowness) {
    left_ = left_ || for_slowness;
    stop_.cancel();
  }
  bool was_stopped() const { return stop_.canceled(); }
  bool was_left() const { return left_; }
  bool ended() const { return ended_; }
  Result<TransferReport>& outcome() { return outcome_; }  // once ended() is true

  // Used by the owner's measurements.
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point measured = std::chrono::steady_clock::now();
  std::uint64_t measured_at = 0;
  double rate = 0;  // bytes per second, in the last measurement

  // The sink that fetch_url() writes to.
  std::uint64_t held() const override { return position_; }
  Result<void> start(std::uint64_t offset) override;
  Result<void> write(std::string_view bytes) override;
  std::uint64_t wanted_until() const override { return end_ >= order_.size ? UINT64_MAX : end_.load(); }

 private:
  const Order order_;
  PartSink& sink_;
  const MayRestart may_restart_;
  CancelToken stop_;
  bool left_ = false;
  std::atomic<std::uint64_t> begin_, position_, end_, received_ = 0;
  std::atomic<bool> ended_ = false;
  Result<TransferReport> outcome_;
  std::thread thread_;
};

// The problem of a server that cannot serve a part.
inline constexpr std::string_view sends_whole_files = "the server sends whole files only";

}  // namespace enginehost::transfer
