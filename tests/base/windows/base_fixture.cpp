// The child process of the base tests on Windows: one small misbehavior for each mode.
#include <io.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace {

[[noreturn]] void wait_for_ever() {
  for (;;) ::Sleep(1000);
}

int start_grandchild(const wchar_t* program) {
  std::wstring line = L"\"" + std::wstring(program) + L"\" noise";
  STARTUPINFOW start{};
  start.cb = sizeof start;
  PROCESS_INFORMATION made{};
  if (::CreateProcessW(program, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &made) == 0)
    return 1;
  std::puts("parent done");
  return 0;
}

// Locks the file, reports it, and holds the lock until its standard input ends.
int hold_lock(const std::string& file) {
  const int opened = enginehost::calls::open(file, O_RDWR | O_CREAT, 0644);
  if (opened < 0 || enginehost::calls::flock(opened, LOCK_EX | LOCK_NB) != 0) return 1;
  std::puts("locked");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

}  // namespace

int wmain(int count, wchar_t** wide_arguments) {
  std::vector<std::string> arguments;
  for (int i = 0; i < count; ++i) arguments.push_back(enginehost::windows::utf8(wide_arguments[i]));
  const std::string_view mode = count > 1 ? arguments[1] : "";
  const std::string value = count > 2 ? arguments[2] : "";
  if (mode == "exit") return std::atoi(value.c_str());
  if (mode == "hang") wait_for_ever();
  if (mode == "say") {
    std::fputs("out", stdout);
    std::fputs("err", stderr);
    return 3;
  }
  if (mode == "arguments") {
    ::_setmode(1, _O_BINARY);
    for (std::size_t i = 2; i < arguments.size(); ++i) std::printf("[%s]\n", arguments[i].c_str());
    return 0;
  }
  if (mode == "environment") {
    const auto text = enginehost::environment_variable(value.c_str());
    std::fputs(text ? text->c_str() : "not set", stdout);
    return 0;
  }
  if (mode == "echo") {
    for (int c; (c = std::getchar()) != EOF;) std::putchar(c);
    return 0;
  }
  if (mode == "channel") return enginehost::calls::write(3, "private", 7) == 7 ? 0 : 1;
  if (mode == "exception")
    ::RaiseException(static_cast<DWORD>(std::stoul(value, nullptr, 16)), EXCEPTION_NONCONTINUABLE, 0,
                     nullptr);
  if (mode == "null") *static_cast<volatile int*>(nullptr) = 1;
  if (mode == "grandchild") return start_grandchild(wide_arguments[0]);
  if (mode == "noise")
    for (;;)
      if (enginehost::calls::write(1, "noise\n", 6) < 0) return 0;
  if (mode == "hold-lock") return hold_lock(value);
  return 64;
}
