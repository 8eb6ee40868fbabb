#include "base/per_process.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <set>
#include <thread>
#include <vector>

namespace enginehost {
namespace {

// Returns what the action returns in a child made by `fork_here`.
int in_child(const std::function<pid_t()>& fork_here, const std::function<int()>& action) {
  const pid_t child = fork_here();
  if (child == 0) ::_exit(action());
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int number() { return static_cast<int>(generation_of_process()); }

TEST(GenerationOfProcess, IsHigherInAChild) {
  const int here = number();
  EXPECT_GT(in_child(::fork, number), here);
  EXPECT_EQ(number(), here);
}

TEST(GenerationOfProcess, OfAGrandchildIsHigherThanOfItsParent) {
  EXPECT_EQ(in_child(::fork,
                     [] {
                       const int of_child = number();
                       return in_child(::fork, number) > of_child ? 0 : 1;
                     }),
            0);
}

// Handlers of pthread_atfork() do not run there.
TEST(GenerationOfProcess, IsHigherInAChildMadeWithoutFork) {
  const auto clone = [] { return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); };
  EXPECT_GT(in_child(clone, number), number());
}

TEST(GenerationOfProcess, IsOneForAllThreadsOfAChild) {
  EXPECT_EQ(in_child(::fork,
                     [] {
                       std::vector<int> seen(8);
                       std::vector<std::thread> threads;
                       for (int& one : seen) threads.emplace_back([&one] { one = number(); });
                       for (std::thread& thread : threads) thread.join();
                       return static_cast<int>(std::set<int>(seen.begin(), seen.end()).size());
                     }),
            1);
}

struct Counted {
  int value = 0;
};
PerProcess<Counted> counted;

TEST(PerProcess, StartsAgainInAChild) {
  counted.here().value = 7;
  EXPECT_EQ(in_child(::fork, [] { return counted.here().value; }), 0);
  EXPECT_EQ(counted.here().value, 7);
}

}  // namespace
}  // namespace enginehost
