#include "host/transfer/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace enginehost::transfer {

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) != 0; }

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace enginehost::transfer
