/* libarchive's own answers for MinGW, but for a Windows of today. */
#include "windows_host.h"
#define __LIBARCHIVE_CONFIG_H_INCLUDED 1
#undef WINVER
#define WINVER 0x0A00
#undef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#define HAVE_LIBZ 1
#define HAVE_ZLIB_H 1
#define HAVE_LIBLZMA 1
#define HAVE_LZMA_H 1
#define HAVE_LIBZSTD 1
#define HAVE_ZSTD_H 1
#define HAVE_LIBZSTD_COMPRESSOR 1
