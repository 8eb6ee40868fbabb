// A child process that dies at once, as by a crash.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace enginehost::test {

// Runs no destructor and no handler.
inline void die() { ::kill(::getpid(), SIGKILL); }

// Runs the action in a forked child. The action must end with die(); a return is a failure.
inline void in_dying_child(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    action();
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it could not do what it is for";
}

}  // namespace enginehost::test
