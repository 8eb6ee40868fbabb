#include "host/commands/output.hpp"

#include <fcntl.h>
#include <io.h>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::commands {
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

void leave_at_once(int status) {
  std::fflush(stdout);
  std::fflush(documents());
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(status));
  for (;;) ::Sleep(INFINITE);
}

}  // namespace enginehost::commands
