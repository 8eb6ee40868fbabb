#include "tests/end-to-end/interrupted.hpp"

#include <stdexcept>
#include <string>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::test {

struct Running::State {
  windows::Handle typed, process;
};

Running::Running(const ChildRequest& request, const std::filesystem::path& output)
    : state_(std::make_unique<State>()) {
  static int number = 0;
  const std::string event =
      "enginehost-typed-" + std::to_string(::GetCurrentProcessId()) + "-" + std::to_string(++number);
  state_->typed = windows::Handle(::CreateEventW(nullptr, TRUE, FALSE, windows::wide(event).c_str()));
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  const windows::Handle file(::CreateFileW(output.c_str(), GENERIC_WRITE, FILE_SHARE_READ, &inherited,
                                           CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  const windows::Handle nothing(::CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ,
                                              &inherited, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdInput = startup.hStdError = nothing.get();
  startup.hStdOutput = file.get();
  std::vector<std::string> words = {ENGINEHOST_AT_A_CONSOLE, event};
  words.insert(words.end(), request.argv.begin(), request.argv.end());
  std::wstring line = windows::command_line(words);
  std::wstring environment = windows::environment_block(request.environment);
  PROCESS_INFORMATION process{};
  if (::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE,
                       CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT, environment.data(), nullptr, &startup,
                       &process) == 0)
    throw std::runtime_error(words.front() + " cannot be started");
  ::CloseHandle(process.hThread);
  state_->process = windows::Handle(process.hProcess);
}

Running::~Running() {
  ::TerminateProcess(state_->process.get(), 1);
  ::WaitForSingleObject(state_->process.get(), 5000);
}

void Running::interrupt() { ::SetEvent(state_->typed.get()); }

std::optional<int> Running::ended_within(std::chrono::milliseconds time) {
  if (::WaitForSingleObject(state_->process.get(), static_cast<DWORD>(time.count())) != WAIT_OBJECT_0)
    return std::nullopt;
  DWORD status = 0;
  ::GetExitCodeProcess(state_->process.get(), &status);
  return static_cast<int>(status);
}

}  // namespace enginehost::test
