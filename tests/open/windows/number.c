/* A library of a build, which another build brings with another answer. */
__declspec(dllexport) int number(void);

int number(void) { return NUMBER; }
