// The probe's process on Windows: its limits, state and libraries, and the end of what it started.
#include <fcntl.h>
#include <io.h>
#include <clocale>
#include <cstdio>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/load/helper/shared_library.hpp"
#include "host/load/helper/this_process.hpp"
#include "host/load/in_process/open_library.hpp"

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

void set_limits(std::uint64_t) {}

MemoryUse memory_use() { return {}; }

namespace {

template <class Call>
std::string text_of(Call call) {
  wchar_t text[1024];
  const DWORD length = call(text, DWORD{1024});
  return length < 1024 ? windows::utf8(std::wstring_view(text, length)) : std::string("a long path");
}

// Returns the module that the filter lies in. The old filter can only be read by setting a new one.
std::string exception_filter() {
  const LPTOP_LEVEL_EXCEPTION_FILTER filter = ::SetUnhandledExceptionFilter(nullptr);
  ::SetUnhandledExceptionFilter(filter);
  return load::file_of_address(reinterpret_cast<const void*>(filter));
}

}  // namespace

// Threads and handles are not counted, because the loader and the system's thread pools create and end some
// of their own. Signal handlers belong to each C runtime here.
ProcessState look_at_process() {
  ProcessState state;
  if (const char* locale = std::setlocale(LC_ALL, nullptr)) state.locale = locale;
  state.folder = text_of([](wchar_t* text, DWORD size) { return ::GetCurrentDirectoryW(size, text); });
  state.others = {
      {"the handler of unhandled exceptions", exception_filter()},
      {"the folder of SetDllDirectory",
       text_of([](wchar_t* text, DWORD size) { return ::GetDllDirectoryW(size, text); })},
      {"the error mode", std::to_string(::GetErrorMode())},
      {"the code page of its console", std::to_string(::GetConsoleOutputCP())},
  };
  return state;
}

// The driver's package installs both into System32.
const char* const cuda_driver_library = "nvcuda.dll";
const char* const nvml_library = "nvml.dll";

namespace {

HMODULE load(const std::string& name_or_path) {
  // A bare name means a library of the system: neither PATH nor the program's folder is searched.
  const bool is_path = name_or_path.find_first_of("\\/") != std::string::npos;
  const DWORD flags = is_path ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
                              : LOAD_LIBRARY_SEARCH_SYSTEM32;
  return ::LoadLibraryExW(windows::wide(name_or_path).c_str(), nullptr, flags);
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& name_or_path) {
  HMODULE module = load(name_or_path);
  const DWORD error = module == nullptr ? ::GetLastError() : 0;
  // Location in drivers before the DCH packages (NVIDIA, NVML API Reference Guide: "on Windows").
  if (const auto programs = environment_variable("ProgramFiles");
      module == nullptr && name_or_path == nvml_library && programs)
    module = load(*programs + "\\NVIDIA Corporation\\NVSMI\\nvml.dll");
  handle_ = reinterpret_cast<void*>(module);
  if (module == nullptr)
    error_ = name_or_path + ": " + windows::error_text(error) + " (error " + std::to_string(error) + ")";
}

std::string SharedLibrary::path() const {
  if (handle_ == nullptr) return {};
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = ::GetModuleFileNameW(reinterpret_cast<HMODULE>(handle_), path.data(),
                                              static_cast<DWORD>(path.size()));
    if (length < path.size()) return windows::utf8(std::wstring_view(path).substr(0, length));
    path.resize(path.size() * 2);
  }
}

void* SharedLibrary::symbol(const char* name) const {
  if (handle_ == nullptr) return nullptr;
  return reinterpret_cast<void*>(::GetProcAddress(reinterpret_cast<HMODULE>(handle_), name));
}

// The parent's job object ends everything that this process starts.
void supervise() {}

}  // namespace enginehost::helper
