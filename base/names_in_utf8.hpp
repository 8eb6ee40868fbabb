// A guard for libraries that convert file names by the locale.
#pragma once
#ifdef _WIN32
#include "base/windows/names_in_utf8.hpp"
#else
#include "base/posix/names_in_utf8.hpp"
#endif
