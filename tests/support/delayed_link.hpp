// A relay to a server of this machine that is as slow as a long line: each byte arrives half a round trip
// after it was sent, and a connection needs one round trip before it carries anything. The bandwidth is not
// limited.
#pragma once
#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <thread>

#include "tests/support/sockets.hpp"

namespace enginehost::test {

class DelayedLink {
 public:
  // Listens on a port of its own and relays to `server` on 127.0.0.1. Throws when it cannot listen.
  DelayedLink(int server, std::chrono::milliseconds round_trip);
  ~DelayedLink();
  DelayedLink(const DelayedLink&) = delete;
  DelayedLink& operator=(const DelayedLink&) = delete;

  int port() const { return port_; }
  // How many connections were made.
  int connections() const { return connections_; }

 private:
  class Relay;
  void accept();

  int server_, port_ = 0;
  std::chrono::milliseconds round_trip_;
  sockets::Socket listener_ = -1;
  std::atomic<bool> ending_ = false;
  std::atomic<int> connections_ = 0;
  std::list<std::unique_ptr<Relay>> relays_;  // of the accepting thread until it has ended
  std::thread accepting_;
};

}  // namespace enginehost::test
