#include "host/commands/system.hpp"

#include <fcntl.h>
#include <io.h>

#include <cstdio>

#include "base/environment.hpp"
#include "base/printable.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/history/sentinel.hpp"

namespace enginehost::commands {
namespace {

const CancelToken* token_of_signals = nullptr;
constexpr UINT interrupted = 130;

// Runs on a thread that Windows starts.
BOOL WINAPI on_event(DWORD event) {
  if (token_of_signals == nullptr || token_of_signals->canceled()) {
    history::disown_what_stands();
    ::TerminateProcess(::GetCurrentProcess(), interrupted);
  }
  token_of_signals->cancel();
  // Windows ends the process when this returns, or after some seconds. Waiting leaves time for an orderly
  // end.
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
  return TRUE;
}

}  // namespace

// Does not use _isatty(), which is true for every device, including NUL.
bool is_terminal(int descriptor) {
  DWORD mode = 0;
  return ::GetConsoleMode(reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor)), &mode) != 0;
}

CancelToken cancel_on_signal() {
  static const CancelToken token;
  token_of_signals = &token;
  ::SetConsoleCtrlHandler(&on_event, TRUE);
  return token;
}

bool show_in_pager(const std::string& text, bool on_output) {
  if (!is_terminal(standard_input) || !is_terminal(standard_error)) return false;
  if (on_output && !is_terminal(::_fileno(stdout))) return false;
  const std::string command = environment_variable("PAGER").value_or("");
  if (command.empty()) return false;
  std::fflush(stdout);
  std::FILE* const pipe = ::_wpopen(windows::wide(command + " 1>&2").c_str(), L"wb");
  if (pipe == nullptr) return false;
  const std::string shown = printable(text) + "\n";
  std::fwrite(shown.data(), 1, shown.size(), pipe);
  return ::_pclose(pipe) != -1;
}

namespace {

constexpr int output = 1, errors = 2;
std::FILE* kept = nullptr;

}  // namespace

// Also redirects engines with their own C runtime and users of the console's handle: a runtime that is loaded
// later takes the handle that SetStdHandle sets.
void keep_output_for_documents() {
  if (kept != nullptr) return;
  std::fflush(stdout);
  const int copy = ::_dup(output);
  if (copy < 0) return;
  std::FILE* const stream = ::_fdopen(copy, "wb");
  if (stream == nullptr) {
    ::_close(copy);
    return;
  }
  if (::_dup2(errors, output) != 0) {
    std::fclose(stream);
    return;
  }
  ::SetStdHandle(STD_OUTPUT_HANDLE, ::GetStdHandle(STD_ERROR_HANDLE));
  kept = stream;
}

std::FILE* documents() { return kept != nullptr ? kept : stdout; }

OutputFile file_behind(std::FILE* stream) {
  OutputFile file;
  const auto handle = reinterpret_cast<HANDLE>(::_get_osfhandle(::_fileno(stream)));
  if (::GetFileType(handle) != FILE_TYPE_DISK) return file;
  LARGE_INTEGER size{};
  if (::GetFileSizeEx(handle, &size) != 0) file.size = static_cast<std::uint64_t>(size.QuadPart);
  file.name = windows::final_path(handle);
  return file;
}

bool gets_no_thread() { return false; }

void leave_at_once(int status) {
  std::fflush(stdout);
  std::fflush(documents());
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(status));
  for (;;) ::Sleep(INFINITE);
}

// Nothing to do: new files inherit the access list of their folder.
void set_system_layer_umask() {}

}  // namespace enginehost::commands
