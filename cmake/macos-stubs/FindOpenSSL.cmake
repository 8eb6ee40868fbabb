enginehost_stub(OpenSSL::Crypto libcrypto.so "@rpath/libcrypto.3.dylib")
set(OPENSSL_FOUND TRUE)
