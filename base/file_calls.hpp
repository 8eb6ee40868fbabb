// File calls with POSIX names and meanings on every system. On POSIX systems they are the system's own calls. On
// Windows they are built on CreateFileW and related calls (base/windows). A call that fails returns -1 and sets errno.
// Names are UTF-8. Thread safety: any thread.
#pragma once
#ifdef _WIN32
#include "base/windows/file_calls.hpp"
#else
#include "base/posix/file_calls.hpp"
#endif
