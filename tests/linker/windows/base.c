__declspec(dllexport) int win_base(void) { return 1; }
