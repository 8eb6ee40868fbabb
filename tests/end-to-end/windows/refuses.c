/* Start code that fails: LoadLibrary's error 1114. */
#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, LPVOID reserved) {
  (void)module, (void)reserved;
  return reason != DLL_PROCESS_ATTACH;
}
