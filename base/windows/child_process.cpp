#include "base/child_process.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/windows/file_calls.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::windows {
namespace {

std::wstring one_argument(std::wstring_view argument) {
  if (!argument.empty() && argument.find_first_of(L" \t\n\v\"") == std::wstring_view::npos)
    return std::wstring(argument);
  std::wstring text = L"\"";
  for (std::size_t at = 0;; ++at) {
    std::size_t backslashes = 0;
    for (; at < argument.size() && argument[at] == L'\\'; ++at) ++backslashes;
    if (at == argument.size()) {
      text.append(2 * backslashes, L'\\');  // before the closing quotation mark
      break;
    }
    if (argument[at] == L'"') backslashes = 2 * backslashes + 1;
    text.append(backslashes, L'\\');
    text += argument[at];
  }
  return text + L'"';
}

bool same_name(std::wstring_view left, std::wstring_view right) {
  return ::CompareStringOrdinal(left.data(), static_cast<int>(left.size()), right.data(),
                                static_cast<int>(right.size()), TRUE) == CSTR_EQUAL;
}

// Variables like "=C:=C:\folder" begin with "=".
std::wstring_view name_in(std::wstring_view entry) { return entry.substr(0, entry.find(L'=', 1)); }

}  // namespace

std::wstring command_line(const std::vector<std::string>& argv) {
  std::wstring line;
  for (const std::string& argument : argv) {
    if (!line.empty()) line += L' ';
    line += line.empty() ? L'"' + wide(argument) + L'"' : one_argument(wide(argument));
  }
  return line;
}

std::wstring environment_block(const std::vector<std::string>& changes) {
  std::vector<std::wstring> wanted;
  for (const std::string& change : changes) wanted.push_back(wide(change));
  std::wstring block;
  if (wchar_t* const own = ::GetEnvironmentStringsW(); own != nullptr) {
    for (const wchar_t* entry = own; *entry != 0; entry += std::wcslen(entry) + 1) {
      const bool changed = std::any_of(wanted.begin(), wanted.end(), [&](const std::wstring& change) {
        return same_name(name_in(change), name_in(entry));
      });
      if (!changed) block.append(entry).push_back(L'\0');
    }
    ::FreeEnvironmentStringsW(own);
  }
  for (const std::wstring& change : wanted)
    if (change.find(L'=', 1) != std::wstring::npos) block.append(change).push_back(L'\0');
  // An empty block also ends with two zeros.
  if (block.empty()) block.push_back(L'\0');
  block.push_back(L'\0');
  return block;
}

std::wstring find_program(std::string_view name) {
  const bool is_path = name.find_first_of("\\/:") != std::string_view::npos;
  const auto is_file = [](const std::wstring& path) {
    const DWORD attributes = ::GetFileAttributesW(path.c_str());
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
  };
  const auto with_ending = [&](const std::wstring& path) {
    if (is_file(path)) return path;
    if (!std::filesystem::path(path).has_extension() && is_file(path + L".exe")) return path + L".exe";
    return std::wstring();
  };
  if (is_path) return with_ending(calls::Name(std::string(name)).for_call());
  for (const std::string& folder : split(environment_variable("PATH").value_or(""), ';')) {
    if (folder.empty()) continue;
    if (std::wstring found = with_ending((std::filesystem::path(wide(folder)) / wide(name)).native());
        !found.empty())
      return found;
  }
  return {};
}

}  // namespace enginehost::windows

namespace enginehost {
namespace {

using windows::Handle;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kill_grace{2000};
constexpr std::chrono::milliseconds last_words{200};
constexpr DWORD poll_step_ms = 50;

struct Pipe {
  Handle read_end, write_end;
};

// Returns 0 or the error number. Only the child's end can be inherited.
DWORD open_pipe(Pipe& pipe, bool child_reads) {
  HANDLE read_end = nullptr, write_end = nullptr;
  if (::CreatePipe(&read_end, &write_end, nullptr, 1u << 16) == 0) return ::GetLastError();
  pipe.read_end = Handle(read_end);
  pipe.write_end = Handle(write_end);
  const HANDLE theirs = child_reads ? read_end : write_end;
  return ::SetHandleInformation(theirs, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) != 0 ? 0 : ::GetLastError();
}

// A stream of the child, read by its own thread because anonymous pipes cannot be waited for. The buffer is
// shared with that thread, which may outlive the call if a process that cannot be ended keeps the pipe open.
class Stream {
 public:
  Stream(Handle from, std::size_t keep_bytes, bool keep_last)
      : shared_(std::make_shared<Shared>()),
        thread_(&Stream::read, shared_, from.release(), keep_bytes, keep_last) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (thread_.joinable()) thread_.detach();
  }
  bool wait_until(Clock::time_point limit) {
    std::unique_lock lock(shared_->mutex);
    if (!shared_->changed.wait_until(lock, limit, [this] { return shared_->ended; })) return false;
    lock.unlock();
    if (thread_.joinable()) thread_.join();
    return true;
  }
  std::string take() {
    const std::lock_guard lock(shared_->mutex);
    return std::move(shared_->text);
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::string text;
    bool ended = false;
  };
  static void read(const std::shared_ptr<Shared>& shared, HANDLE raw, std::size_t keep_bytes,
                   bool keep_last) {
    const Handle from(raw);
    char buffer[16384];
    DWORD got = 0;
    while (::ReadFile(from.get(), buffer, sizeof buffer, &got, nullptr) != 0 && got > 0) {
      const std::lock_guard lock(shared->mutex);
      shared->text.append(buffer, got);
      if (shared->text.size() <= keep_bytes) continue;
      if (keep_last)
        shared->text.erase(0, shared->text.size() - keep_bytes);
      else
        shared->text.resize(keep_bytes);
    }
    const std::lock_guard lock(shared->mutex);
    shared->ended = true;
    shared->changed.notify_all();
  }
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

// Writes the input and closes the pipe; ends at once if the child's end is gone.
void feed(Handle to, std::string input) {
  if (input.empty()) return;
  std::thread([raw = to.release(), text = std::move(input)] {
    const Handle pipe(raw);
    DWORD done = 0;
    for (std::size_t at = 0; at < text.size(); at += done)
      if (::WriteFile(pipe.get(), text.data() + at,
                      static_cast<DWORD>(std::min<std::size_t>(text.size() - at, 65536)), &done,
                      nullptr) == 0)
        return;
  }).detach();
}

// The list of handles that the child inherits; it inherits no other handle of the host.
class Inheritance {
 public:
  explicit Inheritance(std::vector<HANDLE> handles) : handles_(std::move(handles)) {
    SIZE_T size = 0;
    ::InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    memory_.resize(size);
    if (::InitializeProcThreadAttributeList(list(), 1, 0, &size) == 0) return;
    valid_ = ::UpdateProcThreadAttribute(list(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(),
                                         handles_.size() * sizeof(HANDLE), nullptr, nullptr) != 0;
  }
  Inheritance(const Inheritance&) = delete;
  Inheritance& operator=(const Inheritance&) = delete;
  ~Inheritance() {
    if (valid_) ::DeleteProcThreadAttributeList(list());
  }
  bool valid() const { return valid_; }
  LPPROC_THREAD_ATTRIBUTE_LIST list() {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.data());
  }

 private:
  std::vector<HANDLE> handles_;
  std::vector<unsigned char> memory_;
  bool valid_ = false;
};

// The format in which C runtimes pass descriptors on (as spawn does, in STARTUPINFO's lpReserved2): a count,
// one byte of flags each, then the handles. 0 to 2 are left to the standard handles.
std::vector<unsigned char> descriptor_block(HANDLE third) {
  constexpr unsigned char open_flag = 0x01, pipe_flag = 0x08;
  constexpr std::uint32_t count = 4;
  std::vector<unsigned char> block(sizeof count + count + count * sizeof(HANDLE));
  std::memcpy(block.data(), &count, sizeof count);
  block[sizeof count + 3] = open_flag | pipe_flag;
  const HANDLE handles[count] = {INVALID_HANDLE_VALUE, INVALID_HANDLE_VALUE, INVALID_HANDLE_VALUE, third};
  std::memcpy(block.data() + sizeof count + count, handles, sizeof handles);
  return block;
}

Handle make_job(std::uint64_t memory_bytes) {
  Handle job(::CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  // Without the second flag a crash may wait for somebody to close a window.
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
  if (memory_bytes != 0) {
    limits.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
    limits.JobMemoryLimit = static_cast<SIZE_T>(memory_bytes);
  }
  if (job.valid())
    ::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
  return job;
}

// Returns the kernel's status behind the last error number, because many statuses share one number.
std::string last_status() {
  using Function = ULONG(WINAPI*)();
  const auto function = reinterpret_cast<Function>(
      reinterpret_cast<void*>(::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "RtlGetLastNtStatus")));
  if (function == nullptr) return {};
  char text[16];
  std::snprintf(text, sizeof text, "0x%08lX", function());
  return text;
}

int signal_of(DWORD status) {
  switch (status) {
    case 0xC0000005:  // access violation
    case 0xC0000006:  // in-page error
    case 0xC00000FD:  // stack overflow
    case 0x80000002:  // misaligned
      return SIGSEGV;
    case 0xC000001D:  // illegal instruction
    case 0xC0000096:  // privileged instruction
      return SIGILL;
    case 0xC000008D:
    case 0xC000008E:
    case 0xC000008F:
    case 0xC0000090:
    case 0xC0000091:
    case 0xC0000092:
    case 0xC0000093:  // floating point
    case 0xC0000094:  // integer division by zero
    case 0xC0000095:
      return SIGFPE;
    default:
      return SIGABRT;  // __fastfail, a broken heap, C++ exceptions, and the like
  }
}

void report_end(DWORD code, ChildOutcome& outcome) {
  // The loader's own codes: a DLL or a function is missing, or is for another machine. No code of the program
  // ran.
  constexpr DWORD not_started[] = {0xC0000135, 0xC0000139, 0xC0000138, 0xC000007B, 0xC0000142};
  // Exceptions have one of the two high severities.
  if (code < 0x80000000u) {
    outcome.exit_code = static_cast<int>(code);
    return;
  }
  outcome.exception = code;
  if (std::find(std::begin(not_started), std::end(not_started), code) != std::end(not_started))
    outcome.exit_code = 127;
  else
    outcome.signal = signal_of(code);
}

}  // namespace

Result<ChildOutcome> run_child(const ChildRequest& request) {
  const auto cannot_start = [&](DWORD error, const char* call) {
    const int error_number = windows::errno_of(error);
    return fail(diagnose_errno(code_of_start_error(error_number), error_number)
                    .with(Key::program, request.argv.empty() ? "" : request.argv.front())
                    .with(Key::error, std::to_string(error), call));
  };
  if (request.argv.empty()) return cannot_start(ERROR_INVALID_PARAMETER, "no program is named");
  Pipe input, output, error, channel;
  Handle nowhere;
  if (const DWORD failed = open_pipe(input, true); failed != 0) return cannot_start(failed, "CreatePipe");
  if (const DWORD failed = open_pipe(error, false); failed != 0) return cannot_start(failed, "CreatePipe");
  if (request.discard_output) {
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    nowhere = Handle(::CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                                   OPEN_EXISTING, 0, nullptr));
  } else if (const DWORD failed = open_pipe(output, false); failed != 0) {
    return cannot_start(failed, "CreatePipe");
  }
  if (request.private_channel)
    if (const DWORD failed = open_pipe(channel, false); failed != 0)
      return cannot_start(failed, "CreatePipe");

  const HANDLE child_output = request.discard_output ? nowhere.get() : output.write_end.get();
  std::vector<HANDLE> handed{input.read_end.get(), child_output, error.write_end.get()};
  if (request.private_channel) handed.push_back(channel.write_end.get());
  Inheritance inheritance(handed);
  if (!inheritance.valid()) return cannot_start(::GetLastError(), "UpdateProcThreadAttribute");
  STARTUPINFOEXW start{};
  start.StartupInfo.cb = sizeof start;
  start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  start.StartupInfo.hStdInput = input.read_end.get();
  start.StartupInfo.hStdOutput = child_output;
  start.StartupInfo.hStdError = error.write_end.get();
  start.lpAttributeList = inheritance.list();
  std::vector<unsigned char> block;
  if (request.private_channel) {
    block = descriptor_block(channel.write_end.get());
    start.StartupInfo.cbReserved2 = static_cast<WORD>(block.size());
    start.StartupInfo.lpReserved2 = block.data();
  }

  const std::wstring program = windows::find_program(request.argv.front());
  if (program.empty()) return cannot_start(ERROR_FILE_NOT_FOUND, "the program's file");
  std::wstring line = windows::command_line(request.argv);
  std::wstring environment = windows::environment_block(request.environment);
  const std::wstring folder = windows::wide(request.folder);
  const Handle job = make_job(request.memory_bytes);
  if (!job.valid()) return cannot_start(::GetLastError(), "CreateJobObject");
  PROCESS_INFORMATION made{};
  const auto begin = Clock::now();
  if (::CreateProcessW(
          program.c_str(), line.data(), nullptr, nullptr, TRUE,
          CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW,
          environment.data(), folder.empty() ? nullptr : folder.c_str(), &start.StartupInfo, &made) == 0) {
    const DWORD why = ::GetLastError();
    const std::string status = last_status();
    auto failure = cannot_start(why, "CreateProcess");
    failure.value().with(Key::nt_status, status, "RtlGetLastNtStatus");
    return failure;
  }
  const Handle process(made.hProcess), thread(made.hThread);
  // The child joins the job before its first instruction, so that everything it starts is in the job.
  if (::AssignProcessToJobObject(job.get(), process.get()) == 0) {
    const DWORD why = ::GetLastError();
    ::TerminateProcess(process.get(), 1);
    return cannot_start(why, "AssignProcessToJobObject");
  }
  ::ResumeThread(thread.get());
  input.read_end.close();
  output.write_end.close();
  error.write_end.close();
  channel.write_end.close();

  ChildOutcome outcome;
  std::vector<std::pair<std::unique_ptr<Stream>, std::string*>> streams;
  const auto follow = [&](Pipe& pipe, std::string& into, std::size_t keep, bool last) {
    if (pipe.read_end.valid())
      streams.emplace_back(std::make_unique<Stream>(std::move(pipe.read_end), keep, last), &into);
  };
  follow(output, outcome.output, request.output_bytes.value_or(request.keep_bytes), false);
  follow(error, outcome.error, request.keep_bytes, true);
  follow(channel, outcome.channel, request.channel_bytes, false);
  feed(std::move(input.write_end), request.input);

  const auto give_up_at = begin + request.deadline;
  bool ended = false;
  while (!(ended = ::WaitForSingleObject(process.get(), poll_step_ms) == WAIT_OBJECT_0)) {
    outcome.canceled = request.cancel && request.cancel->canceled();
    outcome.timed_out = !outcome.canceled && Clock::now() >= give_up_at;
    if (!outcome.canceled && !outcome.timed_out) continue;
    ::TerminateJobObject(job.get(), 1);
    ended = ::WaitForSingleObject(process.get(), static_cast<DWORD>(kill_grace.count())) == WAIT_OBJECT_0;
    outcome.survived_kill = !ended;
    break;
  }
  // Processes that the child started may still hold the pipes. Available bytes are read for a short time;
  // then the processes are ended.
  const auto until = Clock::now() + last_words;
  bool all = true;
  for (auto& [stream, into] : streams) all = stream->wait_until(until) && all;
  ::TerminateJobObject(job.get(), 1);
  if (!all)
    for (auto& [stream, into] : streams) stream->wait_until(Clock::now() + last_words);
  for (auto& [stream, into] : streams) *into = stream->take();
  if (DWORD code = 0; ended && ::GetExitCodeProcess(process.get(), &code) != 0) {
    if (outcome.timed_out || outcome.canceled)
      outcome.signal = SIGABRT;  // it was ended
    else
      report_end(code, outcome);
  }
  outcome.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  return outcome;
}

std::string signal_name(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    case SIGABRT:
      return "SIGABRT";
    default:
      return "signal " + std::to_string(signal);
  }
}

}  // namespace enginehost
