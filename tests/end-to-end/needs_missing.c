/* A plugin by its export, which needs a library that the test leaves out. */
#if defined(_WIN32)
__declspec(dllimport)
#endif
int missing_math_double(int value);

#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int engine_plugin_v1(void);

int engine_plugin_v1(void) { return missing_math_double(21); }
