/* A library of a build; another build has one of the same name with another answer. */
__declspec(dllexport) int number(void);

int number(void) { return NUMBER; }
