#include "tests/support/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace enginehost::test::sockets {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Socket made() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
int number(Socket socket) { return static_cast<int>(socket); }

}  // namespace

Socket listen(int& port) {
  const Socket listener = made();
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (::bind(number(listener), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(number(listener), 64) != 0 ||
      ::getsockname(number(listener), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    close(listener);
    return -1;
  }
  port = ntohs(address.sin_port);
  return listener;
}

Socket accept(Socket listener) { return ::accept4(number(listener), nullptr, nullptr, SOCK_CLOEXEC); }

Socket connect(int port) {
  const Socket socket = made();
  const sockaddr_in address = loopback(port);
  if (::connect(number(socket), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  close(socket);
  return -1;
}

std::ptrdiff_t receive(Socket socket, char* into, std::size_t size) {
  return ::recv(number(socket), into, size, 0);
}

std::ptrdiff_t send(Socket socket, const char* from, std::size_t size) {
  return ::send(number(socket), from, size, MSG_NOSIGNAL);
}

void send_at_once(Socket socket) {
  const int yes = 1;
  ::setsockopt(number(socket), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void wait(Socket socket, std::chrono::milliseconds time) {
  pollfd watched{number(socket), POLLIN | POLLRDHUP, 0};
  ::poll(&watched, 1, static_cast<int>(time.count()));
}

void reset_when_closed(Socket socket) {
  const linger at_once{1, 0};
  ::setsockopt(number(socket), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void shut_down(Socket socket) { ::shutdown(number(socket), SHUT_RDWR); }
void close(Socket socket) { ::close(number(socket)); }

}  // namespace enginehost::test::sockets
