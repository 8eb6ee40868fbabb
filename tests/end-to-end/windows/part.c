/* One DLL of a fake payload: it offers the function PART, and calls NEEDED of another DLL where that is
 * named. */
__declspec(dllexport) int PART(void);
#if defined(NEEDED)
__declspec(dllimport) int NEEDED(void);
#endif

int PART(void) {
#if defined(NEEDED)
  return 1 + NEEDED();
#else
  return 1;
#endif
}
