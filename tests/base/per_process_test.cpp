#include "base/per_process.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
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

// Only the kernel can tell there, because no handler of pthread_atfork() runs.
TEST(GenerationOfProcess, IsHigherInAChildMadeWithoutFork) {
  const auto clone = [] { return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); };
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const page = static_cast<unsigned char*>(
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(page, MAP_FAILED);
  *page = 1;
  const bool is_wiped = ::madvise(page, size, MADV_WIPEONFORK) == 0 &&
                        in_child(clone, [page] { return static_cast<int>(*page); }) == 0;
  ::munmap(page, size);
  if (!is_wiped) GTEST_SKIP() << "skipped: this kernel, or qemu, wipes no page in a child";
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
