// The socket calls of the test servers, on every system. A negative socket is a failure.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace enginehost::test::sockets {

using Socket = std::intptr_t;

// Listens on 127.0.0.1, at a port of the system's choice.
Socket listen(int& port);
Socket accept(Socket listener);
Socket connect(int port);
// As recv(2) and send(2): how many bytes, 0 at the end, negative on failure. No signal is raised.
std::ptrdiff_t receive(Socket socket, char* into, std::size_t size);
std::ptrdiff_t send(Socket socket, const char* from, std::size_t size);
// Small pieces are sent without waiting for the other side's confirmation of earlier ones.
void send_at_once(Socket socket);
// Waits until bytes or the other side's end arrive, or the time is over.
void wait(Socket socket, std::chrono::milliseconds time);
// Makes close() a reset instead of an orderly end.
void reset_when_closed(Socket socket);
// Ends the waits of other threads on it.
void shut_down(Socket socket);
void close(Socket socket);

// Whether a server listens at that port of 127.0.0.1.
inline bool answers(int port) {
  const Socket socket = connect(port);
  if (socket >= 0) close(socket);
  return socket >= 0;
}

}  // namespace enginehost::test::sockets
