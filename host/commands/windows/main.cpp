#include <fcntl.h>
#include <io.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/commands/entry.hpp"

namespace {

// Sets the console to UTF-8 and restores it, because the shell uses the same console afterwards.
class ConsoleInUtf8 {
 public:
  ConsoleInUtf8() : before_(::GetConsoleOutputCP()) { ::SetConsoleOutputCP(CP_UTF8); }
  ConsoleInUtf8(const ConsoleInUtf8&) = delete;
  ConsoleInUtf8& operator=(const ConsoleInUtf8&) = delete;
  ~ConsoleInUtf8() {
    if (before_ != 0) ::SetConsoleOutputCP(before_);
  }

 private:
  UINT before_;
};

}  // namespace

int wmain(int argc, wchar_t** argv) {
  // No line end is changed, so that output is the same on every system.
  for (std::FILE* const stream : {stdout, stderr}) ::_setmode(::_fileno(stream), _O_BINARY);
  std::vector<std::string> texts;
  for (int i = 0; i < argc; ++i) texts.push_back(enginehost::windows::utf8(argv[i]));
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  int status = 0;
  {
    const ConsoleInUtf8 console;
    status = ENGINEHOST_COMMAND(argc, arguments.data());
  }
  return engine_command_ended(status);
}
