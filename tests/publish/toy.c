/* A library that is no plugin. */
#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif
EXPORTED int toy_answer(void);

int toy_answer(void) { return 42; }
