/* Preloaded into a child: file systems on which locks, renames and names do not behave as on a local disk.
 *   ODD_LOCKS=granted   every flock succeeds          ODD_LOCKS=refused   every flock fails with ENOLCK
 *   ODD_LOCKS=stumbling the first flock of the process fails with EIO
 *   ODD_KIND=nfs        statfs reports NFS            ODD_KIND=exfat    statfs reports exFAT
 *   ODD_STALE=N         every Nth open to read fails with ESTALE
 *   ODD_LATE=N          the first N searches for a record find nothing, as if its name were not visible yet
 * renameat2 fails with EINVAL whenever this is loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/vfs.h>

static int number_of(const char* name) {
  const char* text = getenv(name);
  return text ? atoi(text) : 0;
}

int flock(int file, int operation) {
  static int (*real)(int, int);
  const char* how = getenv("ODD_LOCKS");
  if (how && !strcmp(how, "granted")) return 0;
  if (how && !strcmp(how, "refused")) {
    errno = ENOLCK;
    return -1;
  }
  static int stumbled;
  if (how && !strcmp(how, "stumbling") && !__sync_lock_test_and_set(&stumbled, 1)) {
    errno = EIO;
    return -1;
  }
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "flock");
  return real(file, operation);
}

int statfs(const char* path, struct statfs* status) {
  static int (*real)(const char*, struct statfs*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "statfs");
  const int result = real(path, status);
  const char* kind = getenv("ODD_KIND");
  if (result == 0 && kind && !strcmp(kind, "nfs")) status->f_type = 0x6969;
  if (result == 0 && kind && !strcmp(kind, "exfat")) status->f_type = 0x2011BAB0;
  return result;
}

int open(const char* path, int flags, ...) {
  static int (*real)(const char*, int, ...);
  static int opened;
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "open");
  const int every = number_of("ODD_STALE");
  const int ours = strstr(path, "/refs/") || strstr(path, "/lists/");
  if (every && ours && (flags & O_ACCMODE) == O_RDONLY && ++opened % every == 0) {
    errno = ESTALE;
    return -1;
  }
  return real(path, flags, mode);
}

int access(const char* path, int mode) {
  static int (*real)(const char*, int);
  static int late;
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "access");
  const size_t length = strlen(path);
  if (length > 4 && !strcmp(path + length - 4, ".ref") && late < number_of("ODD_LATE")) {
    ++late;
    errno = ENOENT;
    return -1;
  }
  return real(path, mode);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  (void)from_folder, (void)from, (void)to_folder, (void)to, (void)flags;
  errno = EINVAL;
  return -1;
}
