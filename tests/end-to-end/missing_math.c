#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif
EXPORTED int missing_math_double(int value);

int missing_math_double(int value) { return 2 * value; }
