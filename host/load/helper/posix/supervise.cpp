#include "host/load/helper/supervise.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace enginehost::helper {
namespace {

constexpr timespec short_time{0, 5'000'000};
constexpr int most_waits = 200;  // for processes that do not end at once, such as those stuck in a driver

// "4711 (name) S 4710 …": the name may hold anything, so the last bracket counts.
pid_t parent_of(const char* process) {
  char path[64], text[512];
  std::snprintf(path, sizeof path, "/proc/%.20s/stat", process);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (length <= 0) return -1;
  text[length] = '\0';
  const char* after = std::strrchr(text, ')');
  return after != nullptr && std::strlen(after) > 4 ? static_cast<pid_t>(std::atoi(after + 4)) : -1;
}

// Only children of this process: nobody else can be hit. Their own children become ours when they end.
void kill_children() {
  DIR* const processes = ::opendir("/proc");
  if (processes == nullptr) return;
  const pid_t us = ::getpid();
  while (const dirent* entry = ::readdir(processes))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == us)
      ::kill(static_cast<pid_t>(std::atoi(entry->d_name)), SIGKILL);
  ::closedir(processes);
}

// Reaps the children that have ended. Returns true when others are left.
bool children_are_left() {
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  return ended == 0;
}

[[noreturn]] void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::_exit(128 + signal);
}

[[noreturn]] void watch(pid_t probe, const sigset_t& signals) {
  int status = 0, asked_to_end = 0;
  for (;;) {
    const pid_t ended = ::waitpid(probe, &status, WNOHANG);
    if (ended == probe || (ended < 0 && errno != EINTR)) break;
    const int signal =
        asked_to_end != 0 ? ::sigtimedwait(&signals, nullptr, &short_time) : ::sigwaitinfo(&signals, nullptr);
    // A second one would end a probe of several threads in the middle of its report.
    if (signal == SIGABRT && ::getpgid(probe) != ::getpgrp()) ::kill(probe, SIGABRT);
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) asked_to_end = signal;
    if (asked_to_end != 0) kill_children();
  }
  for (int waits = 0; children_are_left() && waits < most_waits; ++waits) {
    kill_children();
    ::nanosleep(&short_time, nullptr);
  }
  if (asked_to_end != 0) end_by(asked_to_end);
  if (WIFSIGNALED(status)) end_by(WTERMSIG(status));
  ::_exit(WEXITSTATUS(status));
}

}  // namespace

void supervise() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return;
  sigset_t signals, before;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGABRT, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t probe = ::fork();
  if (probe <= 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  watch(probe, signals);
}

}  // namespace enginehost::helper
