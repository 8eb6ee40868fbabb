__declspec(dllexport) int gone(void) { return 1; }
