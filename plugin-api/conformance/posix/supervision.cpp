#include "../supervision.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>

namespace engineplugin {
namespace {

// Standard output becomes an unnamed file, so that what a plugin prints is seen; the report goes to the real
// one.
std::FILE* put_stdout_aside() {
  const int real = dup(STDOUT_FILENO);
  const int aside = memfd_create("stdout", MFD_CLOEXEC);
  if (real < 0 || aside < 0 || dup2(aside, STDOUT_FILENO) < 0) return nullptr;
  close(aside);
  return fdopen(real, "w");
}

[[noreturn]] void run_checks(const Checks& checks, SharedProgress& progress) {
  std::FILE* stream = put_stdout_aside();
  if (!stream) std::_Exit(3);
  checks(stream, progress);
  std::fclose(stream);
  std::exit(0);  // not _exit: what the plugin left for the end of the process is part of the check
}

// Waits for the child. Returns how it ended, "" for an exit with 0.
std::string wait_for(pid_t child, const SharedProgress& progress, int seconds) {
  int seen = -1;
  int ticks = 0;
  constexpr int ticks_per_second = 50;
  for (;;) {
    int status = 0;
    const pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child && WIFSIGNALED(status)) {
      return std::string("the process was killed by signal ") + std::to_string(WTERMSIG(status)) + " (" +
             strsignal(WTERMSIG(status)) + ") in this check";
    }
    if (done == child) {
      const int code = WEXITSTATUS(status);
      if (progress.finished && code == 0) return "";
      return "the process ended itself with status " + std::to_string(code) + " in this check";
    }
    if (progress.begun != seen) {
      seen = progress.begun;
      ticks = 0;
    } else if (++ticks > seconds * ticks_per_second) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "no answer within " + std::to_string(seconds) + " s";
    }
    usleep(1000000 / ticks_per_second);
  }
}

}  // namespace

Supervised supervise(int, char**, const Checks& checks, int seconds, std::string& error) {
  void* shared =
      mmap(nullptr, sizeof(SharedProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    error = "no shared memory";
    return {};
  }
  auto& progress = *new (shared) SharedProgress{};
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) {
    error = "no child process";
    return {};
  }
  if (child == 0) run_checks(checks, progress);
  std::string end = wait_for(child, progress, seconds);
  return {std::move(end), progress.check, progress.failures};
}

}  // namespace engineplugin
