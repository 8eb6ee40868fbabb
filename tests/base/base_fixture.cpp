// The child process of the base tests: one small misbehavior for each mode.
#include <fcntl.h>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/child_process.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/ownership.hpp"

namespace {

void speak_and_leave(int) {
  const char words[] = "aborted while in stage 3\n";
  if (::write(2, words, sizeof words - 1) < 0) ::_exit(98);
  ::_exit(77);
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

// Prints the result, one fact a line.
int report(const enginehost::Result<void>& written) {
  if (written) {
    std::puts("written");
    return 0;
  }
  std::printf("code=%s\n", written.error().code_text().data());
  for (const auto& fact : written.error().evidence)
    std::printf("%s=%s\n", fact.name().data(), fact.value.c_str());
  return 1;
}

int write_and_report(const char* file, const char* bytes) {
  return report(enginehost::write_file(file, std::string(std::stoul(bytes), 'x')));
}

int folders_and_report(const char* folder) {
  const auto made = enginehost::make_folders(folder);
  std::printf("%s\n", made ? "made" : made.error().code_text().data());
  if (!made) std::printf("errno=%s\n", std::string(made.error().value(enginehost::Key::errno_)).c_str());
  return made ? 0 : 1;
}

// Prints the other user and the problem, each if there is one.
int show_who_may_change(const char* path, std::string_view purpose) {
  using enginehost::Purpose;
  const auto changers = enginehost::who_may_change(path, purpose == "named"  ? Purpose::named
                                                         : purpose == "home" ? Purpose::home
                                                                             : Purpose::belief);
  if (!changers.other.empty()) std::printf("other: %s\n", changers.other.c_str());
  std::puts(changers.problem ? enginehost::reason_of(*changers.problem).c_str() : "safe");
  return 0;
}

// Prints the effective user, group and capabilities, the variable as this process sees it, and the
// environment of a child.
[[noreturn]] void show_variable(const char* name) {
  const std::string status = enginehost::read_kernel_file("/proc/self/status");
  const std::size_t rights = std::min(status.find("CapEff:"), status.size());
  std::printf("user %u group %u %s\n", ::geteuid(), ::getegid(),
              status.substr(rights, status.find('\n', rights) - rights).c_str());
  std::printf("here: %s\n", enginehost::environment_variable(name).value_or("not set").c_str());
  enginehost::ChildRequest child;
  child.argv = {"/usr/bin/env"};
  const auto outcome = enginehost::run_child(child);
  std::printf("child:\n%s", outcome ? outcome->output.c_str() : "not started\n");
  std::fflush(stdout);
  // LeakSanitizer, which would run at exit(), cannot look at a process with more rights.
  ::_exit(0);
}

#ifdef __linux__
// As if /proc were missing or closed; in addition no name can be resolved.
bool forbid_reading_links() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
#ifdef SYS_readlink
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlink, 1, 0),
#endif
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof rules / sizeof rules[0], rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#endif

}  // namespace

int main(int count, char** arguments) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  if (mode == "variable" && count > 2) show_variable(arguments[2]);
  if (mode == "whose" && count > 3) return show_who_may_change(arguments[2], arguments[3]);
  if (mode == "speak-on-abort") {
    ::signal(SIGABRT, speak_and_leave);
    wait_for_ever();
  }
  if (mode == "ignore-abort") {
    ::signal(SIGABRT, SIG_IGN);
    wait_for_ever();
  }
  if (mode == "hang") wait_for_ever();
  if (mode == "signal" && count > 2) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(std::atoi(arguments[2]), SIG_DFL);  // a sanitizer would catch it
    ::raise(std::atoi(arguments[2]));
  }
  if (mode == "grandchild" && count > 2) {
    // A grandchild in another process group keeps the pipes open, silently or noisily, until it is alone.
    std::puts("parent done");
    std::fflush(stdout);
    if (::fork() == 0) {
      ::setsid();
      ::alarm(20);
      if (std::string_view(arguments[2]) == "silent") wait_for_ever();
      ::signal(SIGPIPE, SIG_DFL);
      for (;;)
        if (::write(1, "noise\n", 6) < 0) ::_exit(0);
    }
    return 0;
  }
  if (mode == "channel") return ::write(3, "private", 7) == 7 ? 0 : 1;
  if (mode == "has-channel") return ::fcntl(3, F_GETFD) < 0 ? 1 : 0;
  if (mode == "signals-are-default") {
    sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
    struct sigaction pipe_action {};
    ::sigaction(SIGPIPE, nullptr, &pipe_action);
    return sigismember(&blocked, SIGUSR1) == 0 && pipe_action.sa_handler == SIG_DFL ? 0 : 1;
  }
  if (mode == "write" && count > 3) return write_and_report(arguments[2], arguments[3]);
  if (mode == "copy" && count > 4)
    return report(enginehost::copy_into_place(arguments[2], arguments[3], arguments[4]));
  if (mode.ends_with("-limited") && count > 3) {  // where SIGXFSZ ends a process, as in an application
    ::signal(SIGXFSZ, SIG_DFL);
    const rlimit small{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 99;
    return mode == "copy-limited" ? report(enginehost::write_copy(arguments[2], arguments[3]))
                                  : write_and_report(arguments[2], arguments[3]);
  }
#ifdef __linux__
  if (mode == "where-without-links" && !forbid_reading_links()) return 77;
#endif
  if (mode.starts_with("where")) {
    std::printf("%s\n%s\n", enginehost::executable_folder().c_str(), enginehost::library_folder().c_str());
    return 0;
  }
  if (mode == "folders" && count > 2) return folders_and_report(arguments[2]);
  return 64;
}
