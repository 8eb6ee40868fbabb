#include "host/load/helper/this_process.hpp"

#include <fcntl.h>
#include <io.h>

#include <cstdio>

#include "base/windows/system.hpp"

namespace enginehost::helper {
namespace {

struct Watch {
  DWORD milliseconds = 0;
  HANDLE channel = nullptr;
  char words[256] = "";
};
Watch watch;

DWORD WINAPI end_in_time(void*) {
  ::Sleep(watch.milliseconds);
  DWORD done = 0;
  ::WriteFile(watch.channel, watch.words, static_cast<DWORD>(::lstrlenA(watch.words)), &done, nullptr);
  ::TerminateProcess(::GetCurrentProcess(), 1);
  return 0;
}

}  // namespace

// The parent's job object ends this process with its parent, and the parent has turned off core files.
void prepare_process() {
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  // Request and answer are bytes: ends of lines must not be converted.
  ::_setmode(0, _O_BINARY);
  ::_setmode(1, _O_BINARY);
}

// ExitProcess would run the DllMain of every loaded library.
void leave_at_once(int status) {
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(status));
  for (;;) ::Sleep(INFINITE);
}

// ExitProcess ends all other threads before DLLs run their exit code, so a hang there is left to the parent's
// deadline.
void end_within(unsigned seconds, int descriptor, const char* nonce) {
  watch.milliseconds = seconds * 1000;
  watch.channel = reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
  std::snprintf(watch.words, sizeof watch.words, "\n{\"nonce\":\"%s\",\"overdue\":true}\n", nonce);
  const windows::Handle thread(::CreateThread(nullptr, 0, &end_in_time, nullptr, 0, nullptr));
}

int take_private_channel() {
  constexpr int given = 3;
  const auto handle = reinterpret_cast<HANDLE>(::_get_osfhandle(given));
  if (handle == INVALID_HANDLE_VALUE || ::GetFileType(handle) != FILE_TYPE_PIPE) return -1;
  HANDLE own = nullptr;
  if (::DuplicateHandle(::GetCurrentProcess(), handle, ::GetCurrentProcess(), &own, 0, FALSE,
                        DUPLICATE_SAME_ACCESS) == 0)
    return -1;
  const int taken = ::_open_osfhandle(reinterpret_cast<intptr_t>(own), _O_BINARY);
  if (taken >= 0) ::_close(given);
  return taken;
}

}  // namespace enginehost::helper
