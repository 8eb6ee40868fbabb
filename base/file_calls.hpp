// The calls on files that modules use, by the names and with the meanings that POSIX gives them, on every
// system: where they are the system's own, they are just that; on Windows they are made of CreateFileW and
// its kin (base/windows). A call that fails returns -1 and sets errno. Names are UTF-8. Any thread.
#pragma once
#ifdef _WIN32
#include "base/windows/file_calls.hpp"
#else
#include "base/posix/file_calls.hpp"
#endif
