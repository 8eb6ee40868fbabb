# libcurl as scripts/portable-libraries.sh built it, with Debian's static libraries that it needs.
include("${CMAKE_CURRENT_LIST_DIR}/static_library.cmake")
enginehost_static_library(CURL::libcurl libcurl.a "${ENGINEHOST_PORTABLE_LIBRARIES}/include" libssl.a libcrypto.a libnghttp2.a
  libzstd.a libz.a)
set_property(TARGET CURL::libcurl APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS CURL_STATICLIB)
set(CURL_FOUND TRUE)
