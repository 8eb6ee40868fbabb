__declspec(dllimport) int gone(void);
__declspec(dllexport) int needs_gone(void) { return gone(); }
