__declspec(dllimport) int win_base(void);
__declspec(dllexport) int win_middle(void) { return 1 + win_base(); }
