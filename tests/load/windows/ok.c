__declspec(dllexport) int ok(void) { return 1; }
