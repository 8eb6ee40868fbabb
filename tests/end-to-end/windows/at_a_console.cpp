// at_a_console EVENT COMMAND...: runs the command at a console that only the two share, and sends Ctrl-C
// there when the named event is set. Its status is the command's. GenerateConsoleCtrlEvent reaches every
// process of a process's own console, and no other.
#include <string>
#include <vector>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace {

constexpr int not_started = 125;

BOOL WINAPI stay(DWORD) { return TRUE; }

// A job whose processes end with this process.
enginehost::windows::Handle leash() {
  enginehost::windows::Handle job(::CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  ::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
  return job;
}

}  // namespace

int wmain(int count, wchar_t** words) {
  using enginehost::windows::Handle;
  std::vector<std::string> command;
  for (int i = 2; i < count; ++i) command.push_back(enginehost::windows::utf8(words[i]));
  const Handle typed(::OpenEventW(SYNCHRONIZE, FALSE, count > 2 ? words[1] : L""));
  if (!typed.valid()) return not_started;
  const Handle job = leash();
  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION process{};
  std::wstring line = enginehost::windows::command_line(command);
  if (::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &startup,
                       &process) == 0)
    return not_started;
  const Handle child(process.hProcess), thread(process.hThread);
  ::AssignProcessToJobObject(job.get(), child.get());
  // Set after the child began, which would inherit that Ctrl-C is ignored.
  ::SetConsoleCtrlHandler(&stay, TRUE);
  const HANDLE either[] = {child.get(), typed.get()};
  if (::WaitForMultipleObjects(2, either, FALSE, INFINITE) == WAIT_OBJECT_0 + 1) {
    ::GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
    ::WaitForSingleObject(child.get(), INFINITE);
  }
  DWORD status = not_started;
  ::GetExitCodeProcess(child.get(), &status);
  return static_cast<int>(status);
}
