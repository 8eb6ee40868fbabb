// Functions that glibc 2.28 lacks, and that static libraries, the C++ runtime of GCC 12 and EngineHost call.
// Everything here is hidden in the library or program that it is linked into.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.36; std::random_device calls it. It cannot report a failure.
HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  for (;;) {
    const ssize_t count = getrandom(&value, sizeof value, 0);
    if (count == (ssize_t)sizeof value) return value;
    if (count < 0 && errno != EINTR) abort();
  }
}

struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int find_in(struct dl_phdr_info* file, size_t size, void* data) {
  (void)size;
  const struct search* search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  void* frames = NULL;
  int is_inside = 0;
  for (size_t i = 0; i < file->dlpi_phnum; i++) {
    const ElfW(Phdr)* part = &file->dlpi_phdr[i];
    const uintptr_t start = file->dlpi_addr + part->p_vaddr, stop = start + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) frames = (void*)start;
    if (part->p_type != PT_LOAD) continue;
    if (start < begin) begin = start;
    if (stop > end) end = stop;
    if (search->address >= start && search->address < stop) is_inside = 1;
  }
  if (!is_inside || frames == NULL) return 0;
  *search->found = (struct dl_find_object){
      .dlfo_map_start = (void*)begin, .dlfo_map_end = (void*)end, .dlfo_eh_frame = frames};
  return 1;
}

// glibc 2.35; the unwinder looks up the file that has the code of an address.
HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(find_in, &search) == 1 ? 0 : -1;
}

// glibc 2.33. Older ones have these, with the version of the structure as an argument.
#ifdef __x86_64__
enum { stat_version = 1 };
#else
enum { stat_version = 0 };
#endif
int __xstat64(int version, const char* path, struct stat64* into);
int __lxstat64(int version, const char* path, struct stat64* into);
int __fxstat64(int version, int file, struct stat64* into);
HIDDEN int stat64(const char* path, struct stat64* into) { return __xstat64(stat_version, path, into); }
HIDDEN int lstat64(const char* path, struct stat64* into) { return __lxstat64(stat_version, path, into); }
HIDDEN int fstat64(int file, struct stat64* into) { return __fxstat64(stat_version, file, into); }

// glibc 2.32 put this in the place of a table.
extern const char* const sys_sigabbrev[_NSIG];
HIDDEN const char* sigabbrev_np(int signal) {
  return signal > 0 && signal < _NSIG ? sys_sigabbrev[signal] : NULL;
}

// Each takes the C library's own function where there is one.

// glibc 2.29. Without it the child begins in its parent's folder.
HIDDEN int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t* actions, const char* folder) {
  int (*own)(posix_spawn_file_actions_t*, const char*) = NULL;
  *(void**)&own = dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addchdir_np");
  return own != NULL ? own(actions, folder) : 0;
}

// glibc 2.34. Without it the files are closed that are open now.
HIDDEN int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int first) {
  int (*own)(posix_spawn_file_actions_t*, int) = NULL;
  *(void**)&own = dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np");
  if (own != NULL) return own(actions, first);
  DIR* files = opendir("/proc/self/fd");
  if (files == NULL) return errno;
  int failed = 0;
  for (const struct dirent* one = readdir(files); one != NULL && failed == 0; one = readdir(files)) {
    const int file = atoi(one->d_name);
    if (file >= first && file != dirfd(files)) failed = posix_spawn_file_actions_addclose(actions, file);
  }
  closedir(files);
  return failed;
}

// Optional functions that linked-in libraries ask for weakly and do not have. As hidden names they are null.
// Otherwise the linker for aarch64, which has no -z nodynamic-undefined-weak, leaves them to other libraries
// of the process.
#define ABSENT __attribute__((visibility("hidden"), weak)) void
ABSENT ZSTD_trace_compress_begin(void);
ABSENT ZSTD_trace_compress_end(void);
ABSENT ZSTD_trace_decompress_begin(void);
ABSENT ZSTD_trace_decompress_end(void);
ABSENT __cxa_pure_virtual(void);
HIDDEN extern void (*const enginehost_absent[])(void);
HIDDEN void (*const enginehost_absent[])(void) = {
    ZSTD_trace_compress_begin, ZSTD_trace_compress_end, ZSTD_trace_decompress_begin,
    ZSTD_trace_decompress_end, __cxa_pure_virtual,
};
