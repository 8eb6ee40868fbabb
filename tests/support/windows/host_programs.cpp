#include "tests/support/host_programs.hpp"

#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {
namespace {

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char character : word)
    text += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return text + "'";
}

std::string joined(const std::vector<std::string>& command) {
  std::string text = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\n";
  for (const std::string& word : command) text += quoted(word) + " ";
  return text;
}

// There is no handle to wait for; the script writes its state into files.
void start_shell(const std::filesystem::path& script) {
  std::wstring line = L"Z:\\bin\\sh " + windows::wide(host_path(script));
  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION process{};
  if (::CreateProcessW(L"Z:\\bin\\sh", line.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr, &startup,
                       &process) == 0)
    throw std::runtime_error("no shell can be started: these tests need Wine");
}

bool wait_for(const std::filesystem::path& file) {
  std::error_code error;
  for (int wait = 0; wait < 6000; ++wait) {
    if (std::filesystem::exists(file, error)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

std::string host_path(const std::filesystem::path& file) {
  using UnixName = char*(CDECL*)(LPCWSTR);
  const auto unix_name = reinterpret_cast<UnixName>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name")));
  char* name = unix_name != nullptr ? unix_name(file.c_str()) : nullptr;
  if (name == nullptr) throw std::runtime_error("these tests need Wine");
  std::string text(name);
  ::HeapFree(::GetProcessHeap(), 0, name);
  return text;
}

std::string host_program(const std::string& name) {
  static std::map<std::string, std::string> found;
  if (const auto known = found.find(name); known != found.end()) return known->second;
  std::string path = run_host_program({"sh", "-c", "command -v \"$0\"", name}).value_or(std::string());
  if (path.ends_with('\n')) path.pop_back();
  return found[name] = path;
}

bool is_host_root() {
  static const bool root = run_host_program({"id", "-u"}) == "0\n";
  return root;
}

std::optional<std::string> run_host_program(const std::vector<std::string>& command) {
  const TemporaryFolder folder;
  const std::string at = quoted(host_path(folder.path()));
  write_text(folder / "run.sh", joined(command) + ">" + at + "/output 2>/dev/null </dev/null\necho $? >" +
                                    at + "/status.new\nmv " + at + "/status.new " + at + "/status\n");
  start_shell(folder / "run.sh");
  if (!wait_for(folder / "status") || read_text(folder / "status") != "0\n") return {};
  return read_text(folder / "output");
}

struct HostServer::State {
  TemporaryFolder folder;
  bool started = false;
};

HostServer::HostServer() : state_(std::make_unique<State>()) {}
HostServer::~HostServer() { stop(); }

void HostServer::start(const std::vector<std::string>& command, const std::filesystem::path& log) {
  const TemporaryFolder& folder = state_->folder;
  const std::string at = quoted(host_path(folder.path()));
  std::error_code error;
  std::filesystem::remove(folder / "ended", error);
  write_text(folder / "wanted", "");
  // A crashing test leaves "wanted" behind; the server then ends after five minutes.
  write_text(folder / "run.sh", joined(command) + ">>" + quoted(host_path(log)) +
                                    " 2>&1 </dev/null &\nserver=$!\nleft=3000\n"
                                    "while [ -e " +
                                    at + "/wanted ] && kill -0 $server && [ $left -gt 0 ]; do sleep 0.1; " +
                                    "left=$((left - 1)); done 2>/dev/null\n" +
                                    "kill $server; wait $server; : >" + at + "/ended\n");
  start_shell(folder / "run.sh");
  state_->started = true;
}

bool HostServer::has_ended() {
  std::error_code error;
  return !state_->started || std::filesystem::exists(state_->folder / "ended", error);
}

void HostServer::stop() {
  if (has_ended()) return;
  std::error_code error;
  std::filesystem::remove(state_->folder / "wanted", error);
  wait_for(state_->folder / "ended");
}

}  // namespace enginehost::test
