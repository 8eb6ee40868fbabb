#include "tests/support/sockets.hpp"

#include <winsock2.h>

namespace enginehost::test::sockets {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<u_short>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Socket made() {
  static const int begun = [] {
    WSADATA data;
    return ::WSAStartup(MAKEWORD(2, 2), &data);
  }();
  return begun != 0 ? -1 : static_cast<Socket>(::socket(AF_INET, SOCK_STREAM, 0));
}
SOCKET number(Socket socket) { return static_cast<SOCKET>(socket); }

}  // namespace

Socket listen(int& port) {
  const Socket listener = made();
  sockaddr_in address = loopback(0);
  int length = sizeof address;
  if (::bind(number(listener), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(number(listener), 64) != 0 ||
      ::getsockname(number(listener), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    close(listener);
    return -1;
  }
  port = ntohs(address.sin_port);
  return listener;
}

Socket accept(Socket listener) { return static_cast<Socket>(::accept(number(listener), nullptr, nullptr)); }

Socket connect(int port) {
  const Socket socket = made();
  const sockaddr_in address = loopback(port);
  if (::connect(number(socket), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  close(socket);
  return -1;
}

std::ptrdiff_t receive(Socket socket, char* into, std::size_t size) {
  return ::recv(number(socket), into, static_cast<int>(size), 0);
}

std::ptrdiff_t send(Socket socket, const char* from, std::size_t size) {
  return ::send(number(socket), from, static_cast<int>(size), 0);
}

void send_at_once(Socket socket) {
  const int yes = 1;
  ::setsockopt(number(socket), IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&yes), sizeof yes);
}

void wait(Socket socket, std::chrono::milliseconds time) {
  WSAPOLLFD watched{number(socket), POLLIN, 0};
  ::WSAPoll(&watched, 1, static_cast<INT>(time.count()));
}

void reset_when_closed(Socket socket) {
  const linger at_once{1, 0};
  ::setsockopt(number(socket), SOL_SOCKET, SO_LINGER, reinterpret_cast<const char*>(&at_once),
               sizeof at_once);
}

void shut_down(Socket socket) { ::shutdown(number(socket), SD_BOTH); }
void close(Socket socket) { ::closesocket(number(socket)); }

}  // namespace enginehost::test::sockets
