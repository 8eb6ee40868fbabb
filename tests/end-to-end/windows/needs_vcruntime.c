/* A plugin (by its export) that needs Visual C++'s runtime, as output of Visual Studio does. */
__declspec(dllimport) void _Thrd_yield(void);
__declspec(dllimport) void __std_terminate(void);
__declspec(dllexport) int engine_plugin_v1(int value);

int engine_plugin_v1(int value) {
  if (value == 0) __std_terminate();
  _Thrd_yield();
  return value;
}
