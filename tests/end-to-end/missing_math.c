#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int missing_math_double(int value);

int missing_math_double(int value) { return 2 * value; }
