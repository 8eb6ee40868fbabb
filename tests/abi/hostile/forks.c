/* create() forks and the child returns too, so that the program runs twice. At most 12 forks in all processes
 * together, so that a host that misses it is only slow. */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_int* hostile_forks;
__attribute__((constructor)) static void hostile_make_counter(void) {
  if (!hostile_forks)
    hostile_forks =
        mmap(NULL, sizeof *hostile_forks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}
static void hostile_fork(void) {
  if (hostile_forks == MAP_FAILED || (*hostile_forks)++ >= 12) return;
  const pid_t child = fork();
  if (child > 0) waitpid(child, NULL, 0);
}
#define HOSTILE_CREATE hostile_fork();
#define HOSTILE_FLAGS 0
#include "hostile.h"
