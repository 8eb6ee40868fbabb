/* confine RULE COMMAND...: runs the command under a rule that hardened systems apply to whole services.
 *
 *   no-write-exec        memory is never writable and executable (prctl PR_SET_MDWE, Linux 6.3; systemd's
 *                        MemoryDenyWriteExecute=)
 *   no-executable-stack  mprotect with PROT_EXEC fails with EINVAL, as for a stack that may not become
 *                        executable with glibc 2.41
 *
 * Exit status 77: the rule cannot be set here. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

static int no_write_exec(void) {
  const unsigned long refuse_exec_gain = 1;
  return prctl(PR_SET_MDWE, refuse_exec_gain, 0ul, 0ul, 0ul);
}

static int no_executable_stack(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1ul, 0ul, 0ul, 0ul) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  int set = -1;
  if (strcmp(arguments[1], "no-write-exec") == 0) set = no_write_exec();
  if (strcmp(arguments[1], "no-executable-stack") == 0) set = no_executable_stack();
  if (set != 0) {
    fprintf(stderr, "confine: %s: %s\n", arguments[1], strerror(errno));
    return 77;
  }
  execvp(arguments[2], arguments + 2);
  perror(arguments[2]);
  return 127;
}
