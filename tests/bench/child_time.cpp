#include "tests/bench/child_time.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/bench/workplace.hpp"

extern char** environ;

namespace enginehost::bench {

Turn child_time(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), built("tests/bench_open_child").native());
  return [arguments = std::move(arguments)]() -> std::optional<double> {
    std::string said;
    if (!run(arguments, &said)) return std::nullopt;
    const double nanoseconds = std::strtod(said.c_str(), nullptr);
    return nanoseconds > 0 ? std::optional<double>(nanoseconds) : std::nullopt;
  };
}

bool spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  std::vector<char*> arguments, variables;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return error == 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace enginehost::bench
