#include "tests/end-to-end/interrupted.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace enginehost::test {
namespace {

std::string name_of(const std::string& variable) { return variable.substr(0, variable.find('=')); }

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  for (const std::string& change : changes) {
    std::erase_if(all, [&](const std::string& one) { return name_of(one) == name_of(change); });
    if (change.find('=') != std::string::npos) all.push_back(change);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

struct Running::State {
  pid_t process = -1;
};

Running::Running(const ChildRequest& request, const std::filesystem::path& output)
    : state_(std::make_unique<State>()) {
  std::vector<std::string> words = request.argv, variables = environment_with(request.environment);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error = ::posix_spawn(&state_->process, words.front().c_str(), &actions, nullptr,
                                  pointers_to(words).data(), pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(words.front() + " cannot be started");
}

Running::~Running() {
  if (state_->process <= 0) return;
  ::kill(state_->process, SIGKILL);
  ::waitpid(state_->process, nullptr, 0);
}

void Running::interrupt() { ::kill(state_->process, SIGINT); }

void Running::hang_up() { ::kill(state_->process, SIGHUP); }

std::optional<int> Running::ended_within(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  do {
    int status = 0;
    if (::waitpid(state_->process, &status, WNOHANG) == state_->process) {
      state_->process = -1;
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  } while (std::chrono::steady_clock::now() < until);
  return std::nullopt;
}

}  // namespace enginehost::test
