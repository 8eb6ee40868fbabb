__declspec(dllimport) int win_middle(void);
__declspec(dllexport) int win_top(void) { return 1 + win_middle(); }
