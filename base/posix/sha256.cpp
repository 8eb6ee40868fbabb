// SHA-256 through OpenSSL's deprecated plain functions. The first EVP digest of a process reads openssl.cnf
// and sets up providers, which takes longer than the rest of opening an installed engine. The plain functions
// also use the processor's SHA instructions, and leave the host's OpenSSL unchanged.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace enginehost {

struct Sha256::State {
  SHA256_CTX context{};
  State() { SHA256_Init(&context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) { SHA256_Update(&state_->context, bytes.data(), bytes.size()); }

std::string Sha256::hex() {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, &state_->context);
  return hex_of({reinterpret_cast<const char*>(digest), sizeof digest});
}

}  // namespace enginehost
