#include "tests/support/fault_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.hpp"

namespace enginehost::test {

std::string FaultServer::Request::header(std::string_view name) const {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && to_lower(line.substr(0, colon)) == to_lower(name))
      return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

bool FaultServer::Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool FaultServer::Connection::answer(std::string_view status, std::string_view body, std::string_view extra) {
  std::string head = "HTTP/1.1 " + std::string(status) +
                     "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n";
  if (!extra.empty()) head += std::string(extra) + "\r\n";
  return send(head + "\r\n") && send(body);
}

void FaultServer::Connection::drip(std::string_view bytes, std::chrono::milliseconds between) {
  for (const char byte : bytes) {
    if (!send(std::string_view(&byte, 1))) return;
    std::this_thread::sleep_for(between);
  }
}

void FaultServer::Connection::stall(std::chrono::milliseconds time) {
  pollfd watched{socket_, POLLIN | POLLRDHUP, 0};
  ::poll(&watched, 1, static_cast<int>(time.count()));
}

void FaultServer::Connection::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

FaultServer::FaultServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no fault server");
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] {
    for (;;) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0 || ending_) {
        if (socket >= 0) ::close(socket);
        return;
      }
      const std::lock_guard lock(mutex_);
      open_.push_back(socket);
      threads_.emplace_back([this, socket] { serve(socket); });
    }
  });
}

FaultServer::~FaultServer() {
  ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

void FaultServer::serve(int socket) {
  Request request;
  char buffer[4096];
  while (request.text.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    request.text.append(buffer, static_cast<std::size_t>(got));
  }
  if (const auto words = split(request.text.substr(0, request.text.find("\r\n")), ' '); words.size() == 3) {
    request.method = words[0];
    request.path = words[1];
    if (const std::string range = request.header("Range"); range.starts_with("bytes="))
      request.range_start = std::strtoull(range.c_str() + 6, nullptr, 10);
    request.number = ++requests_;
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(request);
    }
    Connection connection(socket);
    handler_(request, connection);
  }
  const std::lock_guard lock(mutex_);
  open_.remove(socket);
  ::close(socket);
}

std::string FaultServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + path;
}

std::vector<FaultServer::Request> FaultServer::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

}  // namespace enginehost::test
