/* A plugin (by its export) that needs a library which the test leaves out. */

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#define IMPORTED __declspec(dllimport)
#else
#define EXPORTED __attribute__((visibility("default")))
#define IMPORTED
#endif
IMPORTED int missing_math_double(int value);
EXPORTED int engine_plugin_v1(void);

int engine_plugin_v1(void) { return missing_math_double(21); }
