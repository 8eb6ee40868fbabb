# Debian's static libcrypto.
include("${CMAKE_CURRENT_LIST_DIR}/static_library.cmake")
enginehost_static_library(OpenSSL::Crypto libcrypto.a "")
set(OPENSSL_FOUND TRUE)
