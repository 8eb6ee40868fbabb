#include "tests/support/fault_server.hpp"

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
    const std::ptrdiff_t sent = sockets::send(socket_, bytes.data(), bytes.size());
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

void FaultServer::Connection::stall(std::chrono::milliseconds time) { sockets::wait(socket_, time); }

void FaultServer::Connection::reset() { sockets::reset_when_closed(socket_); }

FaultServer::FaultServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = sockets::listen(port_);
  if (listener_ < 0) throw std::runtime_error("no fault server");
  accepting_ = std::thread([this] {
    for (;;) {
      const sockets::Socket socket = sockets::accept(listener_);
      if (socket < 0 || ending_) {
        if (socket >= 0) sockets::close(socket);
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
  // A connection ends accept() on every system; shutdown() does so on Linux only.
  if (const sockets::Socket last = sockets::connect(port_); last >= 0) sockets::close(last);
  accepting_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const sockets::Socket socket : open_) sockets::shut_down(socket);
  }
  for (std::thread& thread : threads_) thread.join();
  sockets::close(listener_);
}

void FaultServer::serve(sockets::Socket socket) {
  Request request;
  char buffer[4096];
  while (request.text.find("\r\n\r\n") == std::string::npos) {
    const std::ptrdiff_t got = sockets::receive(socket, buffer, sizeof buffer);
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
  sockets::close(socket);
}

std::string FaultServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + path;
}

std::vector<FaultServer::Request> FaultServer::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

}  // namespace enginehost::test
