#include "tests/support/delayed_link.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace enginehost::test {
namespace {

using Clock = std::chrono::steady_clock;

// One direction of a connection. Bytes are taken as soon as they come and delivered when their time has come,
// so that many of them are on the way at once.
class Direction {
 public:
  // Nothing counts as sent before `open`.
  Direction(sockets::Socket from, sockets::Socket to, Clock::time_point open, Clock::duration delay)
      : from_(from), to_(to), open_(open), delay_(delay) {
    taking_ = std::thread([this] { take(); });
    delivering_ = std::thread([this] { deliver(); });
  }
  ~Direction() {
    taking_.join();
    delivering_.join();
  }

 private:
  void take() {
    char buffer[16384];
    for (bool more = true; more;) {
      const std::ptrdiff_t got = sockets::receive(from_, buffer, sizeof buffer);
      more = got > 0;
      const std::lock_guard lock(mutex_);
      // An empty text is the end.
      on_the_way_.emplace_back(std::max(Clock::now(), open_) + delay_,
                               std::string(buffer, more ? static_cast<std::size_t>(got) : 0));
      changed_.notify_one();
    }
  }
  void deliver() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !on_the_way_.empty(); });
      const auto [due, bytes] = std::move(on_the_way_.front());
      on_the_way_.pop_front();
      lock.unlock();
      std::this_thread::sleep_until(due);
      std::size_t sent = 0;
      while (sent < bytes.size()) {
        const std::ptrdiff_t got = sockets::send(to_, bytes.data() + sent, bytes.size() - sent);
        if (got <= 0) break;
        sent += static_cast<std::size_t>(got);
      }
      if (bytes.empty() || sent < bytes.size()) {
        // The end of one direction is the end of the connection, which is enough for requests and answers.
        sockets::shut_down(to_);
        sockets::shut_down(from_);
        if (bytes.empty()) return;
      }
    }
  }

  sockets::Socket from_, to_;
  Clock::time_point open_;
  Clock::duration delay_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Clock::time_point, std::string>> on_the_way_;
  std::thread taking_, delivering_;
};

}  // namespace

class DelayedLink::Relay {
 public:
  Relay(sockets::Socket client, int server, std::chrono::milliseconds round_trip)
      : client_(client),
        server_(sockets::connect(server)),
        there_(client_, server_, Clock::now() + round_trip, round_trip / 2),
        back_(server_, client_, Clock::now(), round_trip / 2) {
    sockets::send_at_once(client_);
    sockets::send_at_once(server_);
  }
  ~Relay() {
    sockets::shut_down(client_);
    sockets::shut_down(server_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

 private:
  // Closed last, when no thread uses them.
  struct Closing {
    sockets::Socket socket;
    explicit Closing(sockets::Socket one) : socket(one) {}
    ~Closing() {
      if (socket >= 0) sockets::close(socket);
    }
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;
    operator sockets::Socket() const { return socket; }
  };
  Closing client_, server_;
  Direction there_, back_;
};

DelayedLink::DelayedLink(int server, std::chrono::milliseconds round_trip)
    : server_(server), round_trip_(round_trip) {
  listener_ = sockets::listen(port_);
  if (listener_ < 0) throw std::runtime_error("no port for a delayed link");
  accepting_ = std::thread([this] { accept(); });
}

void DelayedLink::accept() {
  for (;;) {
    const sockets::Socket socket = sockets::accept(listener_);
    if (socket < 0 || ending_) {
      if (socket >= 0) sockets::close(socket);
      return;
    }
    ++connections_;
    relays_.push_back(std::make_unique<Relay>(socket, server_, round_trip_));
  }
}

DelayedLink::~DelayedLink() {
  ending_ = true;
  // A connection ends accept() on every system; shutdown() does so on Linux only.
  if (const sockets::Socket last = sockets::connect(port_); last >= 0) sockets::close(last);
  accepting_.join();
  relays_.clear();
  sockets::close(listener_);
}

}  // namespace enginehost::test
