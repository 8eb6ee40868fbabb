__declspec(dllexport) int something_else(void) { return 1; }
