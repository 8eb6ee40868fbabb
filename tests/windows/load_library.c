// Runs on Windows or under Wine: loads a DLL as its arguments say and prints what the loader did.
//   path=P             PATH of the process, before anything else
//   current=D          the current folder
//   dll_directory=D    SetDllDirectory
//   added=D            AddDllDirectory (repeatable)
//   default_flags=N    SetDefaultDllDirectories
//   hold=F             keeps F open without sharing it
//   preload=F          loaded first with the same flags (repeatable)
//   flags=N file=F     LoadLibraryExW(F, NULL, N)
//   function=NAME      GetProcAddress afterwards
//   call=NAME          calls it, as int (void)
// Prints one fact in each line, in UTF-8: "loaded" or "error N"; "function" or "function error N";
// "returned N" or "exception 0xN"; "module PATH" for each module that was not there before, in the loader's
// order.
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <wchar.h>
#include <windows.h>

#include <psapi.h>

#define MODULE_LIMIT 512

static void say(const wchar_t* text) {
  char bytes[4096];
  const int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof(bytes), NULL, NULL);
  DWORD written = 0;
  if (length > 0) WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), bytes, (DWORD)length - 1, &written, NULL);
}

static void say_number(const wchar_t* format, unsigned long number) {
  wchar_t text[64];
  swprintf(text, 64, format, number);
  say(text);
}

static int fail(const wchar_t* what) {
  say(what);
  say_number(L" cannot be done: %lu\n", GetLastError());
  return 2;
}

static DWORD modules(HMODULE* list) {
  DWORD bytes = 0;
  if (!K32EnumProcessModules(GetCurrentProcess(), list, MODULE_LIMIT * sizeof(*list), &bytes)) return 0;
  return bytes / (DWORD)sizeof(*list) < MODULE_LIMIT ? bytes / (DWORD)sizeof(*list) : MODULE_LIMIT;
}

static void say_new_modules(const HMODULE* before, DWORD count_before) {
  HMODULE after[MODULE_LIMIT];
  const DWORD count = modules(after);
  for (DWORD i = 0; i < count; ++i) {
    DWORD k = 0;
    while (k < count_before && before[k] != after[i]) ++k;
    wchar_t path[1024];
    if (k < count_before || GetModuleFileNameW(after[i], path, 1024) == 0) continue;
    say(L"module ");
    say(path);
    say(L"\n");
  }
}

// Only for the called function; the loader handles exceptions of a DLL's start code.
static LONG WINAPI report_exception(EXCEPTION_POINTERS* what) {
  say_number(L"exception 0x%08lX\n", what->ExceptionRecord->ExceptionCode);
  ExitProcess(0);
}

static const wchar_t* value_of(const wchar_t* argument, const wchar_t* key) {
  const size_t length = wcslen(key);
  return wcsncmp(argument, key, length) == 0 && argument[length] == L'=' ? argument + length + 1 : NULL;
}

int wmain(int count, wchar_t** arguments) {
  HMODULE before[MODULE_LIMIT];
  const wchar_t *file = NULL, *function = NULL, *call = NULL, *value;
  DWORD flags = 0;
  for (int i = 1; i < count; ++i) {
    if ((value = value_of(arguments[i], L"path")) != NULL) {
      if (!SetEnvironmentVariableW(L"PATH", value)) return fail(arguments[i]);
    } else if ((value = value_of(arguments[i], L"current")) != NULL) {
      if (!SetCurrentDirectoryW(value)) return fail(arguments[i]);
    } else if ((value = value_of(arguments[i], L"dll_directory")) != NULL) {
      if (!SetDllDirectoryW(value)) return fail(arguments[i]);
    } else if ((value = value_of(arguments[i], L"added")) != NULL) {
      if (AddDllDirectory(value) == NULL) return fail(arguments[i]);
    } else if ((value = value_of(arguments[i], L"default_flags")) != NULL) {
      if (!SetDefaultDllDirectories(wcstoul(value, NULL, 0))) return fail(arguments[i]);
    } else if ((value = value_of(arguments[i], L"hold")) != NULL) {
      if (CreateFileW(value, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL) == INVALID_HANDLE_VALUE)
        return fail(arguments[i]);
    } else if ((value = value_of(arguments[i], L"flags")) != NULL) {
      flags = wcstoul(value, NULL, 0);
    } else if ((value = value_of(arguments[i], L"file")) != NULL) {
      file = value;
    } else if ((value = value_of(arguments[i], L"function")) != NULL) {
      function = value;
    } else if ((value = value_of(arguments[i], L"call")) != NULL) {
      call = value;
    } else if (value_of(arguments[i], L"preload") == NULL) {
      return fail(arguments[i]);
    }
  }
  if (file == NULL) return fail(L"nothing");
  const DWORD count_before = modules(before);
  for (int i = 1; i < count; ++i)
    if ((value = value_of(arguments[i], L"preload")) != NULL && LoadLibraryExW(value, NULL, flags) == NULL)
      return fail(arguments[i]);
  const HMODULE loaded = LoadLibraryExW(file, NULL, flags);
  if (loaded == NULL) {
    say_number(L"error %lu\n", GetLastError());
    return 0;
  }
  say(L"loaded\n");
  say_new_modules(before, count_before);
  for (int i = 0; i < 2; ++i) {
    const wchar_t* wanted = i == 0 ? function : call;
    char name[256];
    if (wanted == NULL) continue;
    WideCharToMultiByte(CP_UTF8, 0, wanted, -1, name, sizeof(name), NULL, NULL);
    const FARPROC found = GetProcAddress(loaded, name);
    if (found == NULL) {
      say_number(L"function error %lu\n", GetLastError());
    } else if (i == 0) {
      say(L"function\n");
    } else {
      AddVectoredExceptionHandler(1, report_exception);
      say_number(L"returned %lu\n", (unsigned long)((int (*)(void))(INT_PTR)found)());
    }
  }
  return 0;
}
