# Finds the libraries of scripts/windows-libraries.sh, and Debian's zlib for MinGW.
find_library(LibArchive_LIBRARY archive)
find_library(LibArchive_ZSTD_LIBRARY zstd)
find_library(LibArchive_LZMA_LIBRARY lzma)
find_library(LibArchive_ZLIB_LIBRARY NAMES libz.a z)
find_path(LibArchive_INCLUDE_DIR archive.h)
if(NOT LibArchive_LIBRARY OR NOT LibArchive_ZSTD_LIBRARY OR NOT LibArchive_LZMA_LIBRARY OR NOT LibArchive_INCLUDE_DIR)
  message(FATAL_ERROR "libarchive for MinGW is not there: scripts/windows-libraries.sh makes it")
endif()
if(NOT LibArchive_ZLIB_LIBRARY)
  message(FATAL_ERROR "zlib for MinGW is not installed (Debian package libz-mingw-w64-dev)")
endif()
if(NOT TARGET LibArchive::LibArchive)
  add_library(LibArchive::LibArchive STATIC IMPORTED)
  set_target_properties(LibArchive::LibArchive PROPERTIES
    IMPORTED_LOCATION "${LibArchive_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LibArchive_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS LIBARCHIVE_STATIC
    INTERFACE_LINK_LIBRARIES "${LibArchive_ZSTD_LIBRARY};${LibArchive_LZMA_LIBRARY};${LibArchive_ZLIB_LIBRARY};bcrypt;advapi32")
endif()
set(LibArchive_FOUND TRUE)
