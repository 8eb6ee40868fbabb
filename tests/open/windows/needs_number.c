/* Compiled together with a plugin, which imports from the library then. */
__declspec(dllimport) int number(void);

__attribute__((constructor)) static void ask(void) { (void)number(); }
