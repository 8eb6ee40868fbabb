// A disk that returns the beginning of every file and an input error for the rest. Linux only.
#pragma once
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace enginehost::test {

// Makes pread fail with EIO from this file offset on, in this process, for good. Returns false if that is
// impossible here.
inline bool fail_reads_from(std::uint32_t offset) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[3])),  // its lower half
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, offset, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof rules / sizeof rules[0], rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The action's result in a forked child where reads fail from `offset` on; nothing where no system call can
// be made to fail.
inline std::optional<std::string> where_reads_fail_from(std::uint32_t offset,
                                                        const std::function<std::string()>& action) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    if (!fail_reads_from(offset)) ::_exit(1);
    const std::string said = action();
    ::_exit(::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  char part[512];
  for (ssize_t got; (got = ::read(ends[0], part, sizeof part)) > 0;)
    said.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return said;
}

}  // namespace enginehost::test
