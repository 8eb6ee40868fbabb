# libarchive as scripts/portable-libraries.sh built it, with Debian's static libraries that it needs.
include("${CMAKE_CURRENT_LIST_DIR}/static_library.cmake")
enginehost_static_library(LibArchive::LibArchive libarchive.a "${ENGINEHOST_PORTABLE_LIBRARIES}/include" libzstd.a liblzma.a libz.a)
set(LibArchive_FOUND TRUE)
