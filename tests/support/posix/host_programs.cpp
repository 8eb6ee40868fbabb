#include "tests/support/host_programs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/child_process.hpp"

extern char** environ;

namespace enginehost::test {

std::string host_path(const std::filesystem::path& file) { return file.native(); }

std::string host_program(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/sbin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return {};
}

bool is_host_root() { return ::geteuid() == 0; }

std::optional<std::string> run_host_program(const std::vector<std::string>& command) {
  ChildRequest request;
  request.argv = command;
  const auto outcome = run_child(request);
  if (!outcome || !outcome->succeeded()) return {};
  return outcome->output;
}

struct HostServer::State {
  pid_t process = -1;
};

HostServer::HostServer() : state_(std::make_unique<State>()) {}
HostServer::~HostServer() { stop(); }

void HostServer::start(const std::vector<std::string>& command, const std::filesystem::path& log) {
  // A crashing test must not leave its server behind: setpriv (util-linux) makes the kernel end the server.
  std::vector<const char*> arguments{"setpriv", "--pdeathsig", "TERM"};
  for (const std::string& word : command) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {1, 2})
    ::posix_spawn_file_actions_addopen(&actions, stream, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int error = ::posix_spawnp(&state_->process, arguments[0], &actions, nullptr,
                                   const_cast<char**>(arguments.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(command.front() + " cannot be started");
}

bool HostServer::has_ended() {
  if (state_->process > 0 && ::waitpid(state_->process, nullptr, WNOHANG) == state_->process)
    state_->process = -1;
  return state_->process <= 0;
}

void HostServer::stop() {
  if (has_ended()) return;
  ::kill(state_->process, SIGTERM);
  for (int wait = 0; wait < 200; ++wait) {
    if (has_ended()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(state_->process, SIGKILL);
  ::waitpid(state_->process, nullptr, 0);
  state_->process = -1;
}

}  // namespace enginehost::test
