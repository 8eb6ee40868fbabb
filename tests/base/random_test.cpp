// Linux: names where a container's system call filter does not know getrandom.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace enginehost {
namespace {

// From here on the system call fails with `error` in this process.
bool refuse(long number, unsigned error) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(rules), rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

constexpr int cannot_be_tried = 77;

// The exit status of a child that makes names under such filters: 0 when all of them differ.
int names_where_refused(const std::vector<long>& numbers, unsigned error) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // an endless loop ends as a signal
    for (const long number : numbers)
      if (!refuse(number, error)) ::_exit(cannot_be_tried);
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(random_hex(8));
    ::_exit(seen.size() == 1000 && random_hex(1000).size() == 2000 ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Random, NamesAreMadeWhereTheKernelGivesNoRandomBytes) {
  for (const unsigned error : {unsigned{ENOSYS}, unsigned{EPERM}}) {
    const int ended = names_where_refused({SYS_getrandom}, error);
    if (ended == cannot_be_tried) GTEST_SKIP() << "no filter of system calls can be set here";
    EXPECT_EQ(ended, 0) << error;
    EXPECT_EQ(names_where_refused({SYS_getrandom, SYS_openat}, error), 0) << error << ", nor /dev/urandom";
  }
}

}  // namespace
}  // namespace enginehost
