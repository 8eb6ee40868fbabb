#include "host/load/helper/this_process.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <io.h>

#include <clocale>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <typeinfo>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/load/in_process/open_library.hpp"

namespace enginehost::helper {
namespace {

// Set once before a build's code runs, and only read afterwards.
HANDLE channel = nullptr;
const char* proof = "";
DWORD first_thread = 0;

// Codes that the compilers' runtimes raise for C++ exceptions (MinGW's unwind-seh.c, Microsoft's ehdata.h).
constexpr DWORD thrown_by_gcc = 0x20474343, thrown_by_msvc = 0xE06D7363;
constexpr DWORD stack_overflow = 0xC00000FD;
// Exit code of a process that ends by __fastfail, which today's abort() uses.
constexpr DWORD gave_up = 0xC0000409;

// Writes the module's path in UTF-8; empty when the address lies in none.
void module_at(std::uintptr_t address, char* out, int room) {
  out[0] = '\0';
  HMODULE module = nullptr;
  wchar_t path[512];
  if (::GetModuleHandleExW(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          reinterpret_cast<LPCWSTR>(address), &module) == 0 ||
      ::GetModuleFileNameW(module, path, 512) == 0)
    return;
  path[511] = L'\0';
  if (::WideCharToMultiByte(CP_UTF8, 0, path, -1, out, room, nullptr, nullptr) == 0) out[0] = '\0';
}

bool is_systems_own(const char* path) {
  const char* name = std::strrchr(path, '\\');
  name = name != nullptr ? name + 1 : path;
  for (const char* own : {"ntdll.", "kernel32.", "kernelbase.", "msvcrt.", "ucrtbase.", "vcruntime140",
                          "msvcp140", "enginehost-probe"})
    if (::_strnicmp(name, own, std::strlen(own)) == 0) return true;
  return *name == '\0';
}

// Finds the code that called into the system: the first return address on this thread's stack that lies in
// another module.
void caller_on_stack(std::uintptr_t pointer, char* out, int room) {
  ULONG_PTR low = 0, high = 0;
  ::GetCurrentThreadStackLimits(&low, &high);
  out[0] = '\0';
  if (pointer < low || pointer >= high) return;
  constexpr std::size_t most_words = 16384;
  const auto* word = reinterpret_cast<const std::uintptr_t*>(pointer & ~std::uintptr_t{7});
  for (std::size_t i = 0; i < most_words && reinterpret_cast<std::uintptr_t>(word + i + 1) <= high; ++i) {
    module_at(word[i], out, room);
    if (!is_systems_own(out)) return;
  }
  out[0] = '\0';
}

// Writes JSON text. Unusual characters are replaced, because allocation is not allowed here.
void quote(const char* text, char* out, std::size_t room) {
  std::size_t at = 0;
  for (; *text != '\0' && at + 3 < room; ++text) {
    if (*text == '\\') out[at++] = '\\';
    out[at++] = *text == '"' || static_cast<unsigned char>(*text) < 0x20 ? '?' : *text;
  }
  out[at] = '\0';
}

void read_instruction(std::uintptr_t address, char (&text)[9]) {
  unsigned char bytes[4];
  SIZE_T got = 0;
  text[0] = '\0';
  if (::ReadProcessMemory(::GetCurrentProcess(), reinterpret_cast<const void*>(address), bytes, sizeof bytes,
                          &got) != 0 &&
      got == sizeof bytes)
    std::snprintf(text, sizeof text, "%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
}

struct Crash {
  int signal;
  std::uintptr_t instruction, address, stack;
  bool overflow;
  const char* exception;
};

void report(const Crash& crash) {
  char module[1024], library[2048], thrown[256], instruction[9], line[3072];
  module_at(crash.instruction, module, sizeof module);
  if (is_systems_own(module)) {
    char caller[1024];
    caller_on_stack(crash.stack, caller, sizeof caller);
    if (caller[0] != '\0') std::memcpy(module, caller, sizeof module);
  }
  quote(module, library, sizeof library);
  quote(crash.exception, thrown, sizeof thrown);
  read_instruction(crash.instruction, instruction);
  const int length = std::snprintf(
      line, sizeof line,
      "\n{\"nonce\":\"%s\",\"crash\":{\"signal\":%d,\"address\":\"0x%llx\",\"in_library\":\"%s\","
      "\"instruction\":\"%s\",\"stack_overflow\":%s,\"first_thread\":%s,\"exception\":\"%s\",\"what\":\"\"}}"
      "\n",
      proof, crash.signal, static_cast<unsigned long long>(crash.address), library, instruction,
      crash.overflow ? "true" : "false", ::GetCurrentThreadId() == first_thread ? "true" : "false", thrown);
  DWORD done = 0;
  if (length > 0) ::WriteFile(channel, line, static_cast<DWORD>(length), &done, nullptr);
}

// Kept until the runtime that threw it terminates.
char last_thrown[256] = "";

// An exception of GCC's runtime carries a pointer to the last member of the thrown object's header; the
// header begins with the type (libsupc++, unwind-cxx.h: __cxa_exception).
void remember_type(const EXCEPTION_RECORD& record) {
  constexpr std::size_t before_unwind_header = 80;
  constexpr char own_class[] = "GNUCC++";  // with its terminating zero: thrown, not rethrown from a copy
  if (record.NumberParameters == 0) return;
  const auto* header = reinterpret_cast<const char*>(record.ExceptionInformation[0]);
  std::uint64_t language = 0;
  std::memcpy(&language, header, sizeof language);
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(language >> (56 - 8 * i));
  if (std::memcmp(bytes, own_class, sizeof bytes) != 0) return;
  const std::type_info* type = nullptr;
  std::memcpy(&type, header - before_unwind_header, sizeof type);
  int status = 0;
  char* demangled = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::snprintf(last_thrown, sizeof last_thrown, "%s", demangled != nullptr ? demangled : type->name());
}

LONG CALLBACK on_exception(EXCEPTION_POINTERS* pointers) {
  const EXCEPTION_RECORD& record = *pointers->ExceptionRecord;
  const CONTEXT& context = *pointers->ContextRecord;
  const bool may_continue = (record.ExceptionFlags & EXCEPTION_NONCONTINUABLE) == 0;
  if (record.ExceptionCode == thrown_by_gcc && may_continue) {
    // When continued, the runtime that threw it prints the exception and terminates.
    remember_type(record);
    return EXCEPTION_CONTINUE_EXECUTION;
  }
  Crash crash{SIGSEGV, reinterpret_cast<std::uintptr_t>(record.ExceptionAddress), 0, 0, false, ""};
#if defined(__x86_64__)
  crash.stack = static_cast<std::uintptr_t>(context.Rsp);
#elif defined(__aarch64__)
  crash.stack = static_cast<std::uintptr_t>(context.Sp);
#endif
  if (record.ExceptionCode == EXCEPTION_ACCESS_VIOLATION && record.NumberParameters > 1)
    crash.address = static_cast<std::uintptr_t>(record.ExceptionInformation[1]);
  if (record.ExceptionCode == thrown_by_msvc) crash.exception = "a C++ exception";
  crash.overflow = record.ExceptionCode == stack_overflow;
  report(crash);
  // The process ends with the exception's own code.
  return EXCEPTION_EXECUTE_HANDLER;
}

// Handles abort() of the C runtime that this program shares with other MinGW code.
void on_abort(int) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  report({SIGABRT, reinterpret_cast<std::uintptr_t>(&std::abort), 0, here, false, last_thrown});
  ::TerminateProcess(::GetCurrentProcess(), gave_up);
}

}  // namespace

void report_crashes(int descriptor, const char* nonce) {
  channel = reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
  proof = nonce;
  first_thread = ::GetCurrentThreadId();
  // Reserves this much stack for the handler when the rest is used up.
  ULONG room = 64 * 1024;
  ::SetThreadStackGuarantee(&room);
  ::SetUnhandledExceptionFilter(&on_exception);
  std::signal(SIGABRT, &on_abort);
}

// The probe's process on Windows: its limits, state and libraries, and the end of what it started.

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
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  state.shared = {
      {"the locale", locale != nullptr ? locale : ""},
      {"the current folder",
       text_of([](wchar_t* text, DWORD size) { return ::GetCurrentDirectoryW(size, text); })},
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

std::string nvml_of_older_drivers() {
  const auto programs = environment_variable("ProgramFiles");
  return programs ? *programs + "\\NVIDIA Corporation\\NVSMI\\nvml.dll" : std::string();
}

// The parent's job object ends everything that this process starts.
void supervise() {}

}  // namespace enginehost::helper
