enginehost_stub(OpenSSL::Crypto libcrypto.so "${ENGINEHOST_HOMEBREW}/opt/openssl@3/lib/libcrypto.3.dylib")
set(OPENSSL_FOUND TRUE)
