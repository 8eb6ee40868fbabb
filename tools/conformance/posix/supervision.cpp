#include "tools/conformance/supervision.hpp"

#include <signal.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>

namespace engineplugin {
namespace {

// The process that runs the checks.
pid_t checking_process = 0;
SharedProgress* shared_progress = nullptr;

// The process group of the checks, for signal handlers.
volatile pid_t group_of_checks = 0;

// A signal that ends this process must also end the checks, which are in a group of their own.
void end_with_checks(int number) {
  kill(-group_of_checks, SIGKILL);
  signal(number, SIG_DFL);
  raise(number);
}

// `aside` stays open as a file of this program that a plugin must not touch; any host has some.
[[noreturn]] void run_checks(const Checks& checks, SharedProgress& progress, int aside) {
  if (dup2(aside, STDOUT_FILENO) < 0) _exit(3);
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  checking_process = getpid();
  shared_progress = &progress;
  checks(progress);
  std::exit(0);  // not _exit: the plugin's exit handlers are part of the check
}

// Also ends processes that the plugin started. The child is waited for last: until then its number cannot be
// reused.
int end_group(pid_t child) {
  kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Waits for the child. Returns how it ended, "" for exit status 0.
std::string wait_for(pid_t child, SharedProgress& progress, int seconds) {
  int seen = -1;
  int ticks = 0;
  constexpr int ticks_per_second = 50;
  for (;;) {
    siginfo_t done{};
    if (waitid(P_PID, static_cast<id_t>(child), &done, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        done.si_pid == child) {
      const int status = end_group(child);
      pass_lines_on(progress);
      if (WIFSIGNALED(status)) {
        return std::string("the process was killed by signal ") + std::to_string(WTERMSIG(status)) + " (" +
               strsignal(WTERMSIG(status)) + ") in this check";
      }
      const int code = WEXITSTATUS(status);
      if (progress.finished && code == 0) return progress.copies > 0 ? copy_came_back : "";
      return "the process ended itself with status " + std::to_string(code) + " in this check";
    }
    pass_lines_on(progress);
    if (progress.begun != seen) {
      seen = progress.begun;
      ticks = 0;
    } else if (++ticks > seconds * ticks_per_second) {
      end_group(child);
      pass_lines_on(progress);
      return "no answer within " + std::to_string(seconds) + " s";
    }
    usleep(1000000 / ticks_per_second);
  }
}

}  // namespace

void end_copy() {
  if (checking_process == 0 || getpid() == checking_process) return;
  shared_progress->copies++;
  _exit(1);  // without destructors, exit handlers and buffers: they belong to the original process
}

Supervised supervise(int, char**, const Checks& checks, int seconds, std::string& error) {
  void* shared =
      mmap(nullptr, sizeof(SharedProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    error = "no shared memory";
    return {};
  }
  const int aside = memfd_create("stdout", MFD_CLOEXEC);
  if (aside < 0) {
    error = "no file for standard output";
    return {};
  }
  auto& progress = *new (shared) SharedProgress{};
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) {
    error = "no child process";
    return {};
  }
  if (child == 0) run_checks(checks, progress, aside);
  setpgid(child, child);  // here too: whichever comes first
  group_of_checks = child;
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    if (signal(number, end_with_checks) == SIG_IGN) signal(number, SIG_IGN);
  }
  std::string end = wait_for(child, progress, seconds);
  struct stat file {};
  fstat(aside, &file);
  close(aside);
  return {std::move(end), progress.check, progress.failures, static_cast<long>(file.st_size)};
}

}  // namespace engineplugin
