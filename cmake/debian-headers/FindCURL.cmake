# Finds the library of scripts/windows-libraries.sh. CMake's own module does not know what a static libcurl links with.
find_library(CURL_LIBRARY curl)
find_path(CURL_INCLUDE_DIR curl/curl.h)
if(NOT CURL_LIBRARY OR NOT CURL_INCLUDE_DIR)
  message(FATAL_ERROR "libcurl for MinGW is not there: scripts/windows-libraries.sh makes it")
endif()
if(NOT TARGET CURL::libcurl)
  add_library(CURL::libcurl STATIC IMPORTED)
  set_target_properties(CURL::libcurl PROPERTIES
    IMPORTED_LOCATION "${CURL_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CURL_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS CURL_STATICLIB
    INTERFACE_LINK_LIBRARIES "ws2_32;crypt32;bcrypt;advapi32")
endif()
set(CURL_FOUND TRUE)
