// A server that breaks the rules of HTTP on demand, which nginx cannot do.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/sockets.hpp"

namespace enginehost::test {

class FaultServer {
 public:
  struct Request {
    std::string method, path, text;  // text: the whole head
    std::optional<std::uint64_t> range_start;
    std::string header(std::string_view name) const;
    int number = 0;  // of this request, from 1
  };
  // One connection; it is closed when the handler returns.
  class Connection {
   public:
    explicit Connection(sockets::Socket socket) : socket_(socket) {}
    bool send(std::string_view bytes);
    // "HTTP/1.1 STATUS\r\nContent-Length: N\r\nEXTRA\r\n\r\n" and the body.
    bool answer(std::string_view status, std::string_view body, std::string_view extra = {});
    void drip(std::string_view bytes, std::chrono::milliseconds between);
    // Waits until the other side hangs up or the time is over.
    void stall(std::chrono::milliseconds time);
    // Ends with a reset instead of an orderly close.
    void reset();

   private:
    sockets::Socket socket_;
  };
  using Handler = std::function<void(const Request&, Connection&)>;

  explicit FaultServer(Handler handler);
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  std::string url(const std::string& path) const;
  int port() const { return port_; }
  int requests() const { return requests_; }
  std::vector<Request> seen() const;

 private:
  void serve(sockets::Socket socket);

  Handler handler_;
  sockets::Socket listener_ = -1;
  int port_ = 0;
  std::atomic<int> requests_ = 0;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  std::vector<Request> seen_;
  std::list<sockets::Socket> open_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace enginehost::test
