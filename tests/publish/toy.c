/* A library that is no plugin. */
#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int toy_answer(void);

int toy_answer(void) { return 42; }
