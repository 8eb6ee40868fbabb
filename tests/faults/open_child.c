/* Opens each file named on the command line with RTLD_LOCAL and RTLD_NOW (after --lazy: RTLD_LAZY), as an
 * application does, and writes the result to descriptor 3: "opened" after the last one, or "refused", a tab
 * and the loader's message. No output means that something ended the process. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

static void report(const char* text) {
  if (write(3, text, strlen(text)) < 0) _exit(98);
}

/* Starts again at fixed addresses where the system permits it: the runtimes of clang's sanitizers, which are
 * among the files, end the process when their tables do not fit between libraries at random addresses. */
static void fix_addresses(char** argv) {
  const int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE)) return;
  if (personality((unsigned long)now | ADDR_NO_RANDOMIZE) != -1) execv("/proc/self/exe", argv);
}

int main(int argc, char** argv) {
  fix_addresses(argv);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int lazy = argc > 1 && strcmp(argv[1], "--lazy") == 0;
  for (int i = 1 + lazy; i < argc; ++i) {
    if (dlopen(argv[i], (lazy ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL) != NULL) continue;
    const char* said = dlerror();
    report("refused\t");
    report(said != NULL ? said : "");
    _exit(1);
  }
  report("opened");
  /* The libraries' code at the end of a program is not part of the test. */
  _exit(0);
}
