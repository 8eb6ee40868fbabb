// Functions that glibc 2.28 lacks, and that code calls which was compiled with newer headers. A linker takes
// them where they are needed.
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

// glibc 2.32. "True" would leave out locks; false is always right.
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

// glibc 2.33. Older ones have these, with the version of the structure as an argument.
#ifdef __x86_64__
enum { stat_version = 1 };
#else
enum { stat_version = 0 };
#endif
int __xstat(int version, const char* path, struct stat* into);
int __lxstat(int version, const char* path, struct stat* into);
int __fxstat(int version, int file, struct stat* into);
int __fxstatat(int version, int folder, const char* path, struct stat* into, int flags);
int stat(const char* path, struct stat* into) { return __xstat(stat_version, path, into); }
int lstat(const char* path, struct stat* into) { return __lxstat(stat_version, path, into); }
int fstat(int file, struct stat* into) { return __fxstat(stat_version, file, into); }
int fstatat(int folder, const char* path, struct stat* into, int flags) {
  return __fxstatat(stat_version, folder, path, into, flags);
}

// glibc 2.30. std::condition_variable waited by the clock of the day before that, too: if somebody sets it, a
// wait ends too early or too late.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  struct timespec now, day;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &day);
  day.tv_sec += until->tv_sec - now.tv_sec;
  day.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (day.tv_nsec < 0 || day.tv_nsec >= 1000000000) {
    const long carry = day.tv_nsec < 0 ? -1 : 1;
    day.tv_sec += carry;
    day.tv_nsec -= carry * 1000000000;
  }
  return pthread_cond_timedwait(condition, mutex, &day);
}
