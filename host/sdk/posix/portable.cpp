// Only in portable builds, which have an OpenSSL and other libraries of their own.
#include <openssl/crypto.h>

#include "base/linked_in.hpp"

namespace {

// openssl.cnf and the modules that it names belong to the system's OpenSSL, which may be another release. The
// first EVP function would read them.
[[gnu::constructor]] void leave_openssl_settings_alone() {
  (void)::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
}

}  // namespace

std::string enginehost::linked_in() { return ENGINEHOST_LINKED_IN; }
