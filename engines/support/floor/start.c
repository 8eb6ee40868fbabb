// The start code of glibc 2.34 and later lets glibc run a program's constructors. Older releases run what the
// start code passes to them, so this passes it.
typedef void constructor(int count, char** arguments, char** environment);

// The linker defines these.
extern constructor* const __preinit_array_start[] __attribute__((visibility("hidden")));
extern constructor* const __preinit_array_end[] __attribute__((visibility("hidden")));
extern constructor* const __init_array_start[] __attribute__((visibility("hidden")));
extern constructor* const __init_array_end[] __attribute__((visibility("hidden")));

static void construct(int count, char** arguments, char** environment) {
  for (constructor* const* one = __preinit_array_start; one != __preinit_array_end; one++)
    (*one)(count, arguments, environment);
  for (constructor* const* one = __init_array_start; one != __init_array_end; one++)
    (*one)(count, arguments, environment);
}

typedef int start(int (*main)(int, char**, char**), int count, char** arguments, constructor* before_main,
                  void (*after_main)(void), void (*loader_end)(void), void* stack_end);
extern start start_of_glibc;
#ifdef __x86_64__
__asm__(".symver start_of_glibc, __libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver start_of_glibc, __libc_start_main@GLIBC_2.17");
#endif

extern start __libc_start_main __attribute__((visibility("hidden")));
int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                      __attribute__((unused)) constructor* before_main, void (*after_main)(void),
                      void (*loader_end)(void), void* stack_end) {
  return start_of_glibc(main, count, arguments, construct, after_main, loader_end, stack_end);
}
