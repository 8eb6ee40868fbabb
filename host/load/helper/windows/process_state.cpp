#include "host/load/helper/process_state.hpp"

#include <clocale>

#include "base/paths.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/load/in_process/open_library.hpp"

namespace enginehost::helper {
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

}  // namespace enginehost::helper
