#include "host/transfer/terminal.hpp"

#include <io.h>

#include "base/windows/system.hpp"

namespace enginehost::transfer {
namespace {

HANDLE console_of(std::FILE* stream) { return reinterpret_cast<HANDLE>(::_get_osfhandle(::_fileno(stream))); }

}  // namespace

bool is_terminal(std::FILE* stream) {
  const HANDLE console = console_of(stream);
  DWORD mode = 0;
  return ::GetConsoleMode(console, &mode) != 0 &&
         ::SetConsoleMode(console, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

std::size_t columns_of(std::FILE* stream) {
  CONSOLE_SCREEN_BUFFER_INFO screen{};
  if (::GetConsoleScreenBufferInfo(console_of(stream), &screen) == 0) return 80;
  const int columns = screen.srWindow.Right - screen.srWindow.Left + 1;
  return columns > 0 ? static_cast<std::size_t>(columns) : 80;
}

}  // namespace enginehost::transfer
